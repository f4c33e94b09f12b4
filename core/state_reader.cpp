#include "core/state_reader.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace ut::core {

StateReader::StateReader(const nlohmann::json& state, const std::filesystem::path& checkpoint)
    : state_(state), file_(checkpoint / "state.json") {}

std::string StateReader::text(const std::string& field, const std::string& otherwise) const {
  const auto found = state_.find(field);
  if (found == state_.end()) return otherwise;
  if (!found->is_string()) throw base::BadInput("{}: \"{}\" is {}, needs text", file_.string(), field, found->dump());
  return found->get<std::string>();
}

std::int64_t StateReader::whole(const std::string& field, std::int64_t otherwise, std::int64_t least) const {
  const auto found = state_.find(field);
  if (found == state_.end()) return otherwise;
  const bool is_small =
      !found->is_number_unsigned() || found->get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  if (!found->is_number_integer() || !is_small || found->get<std::int64_t>() < least)
    throw base::BadInput("{}: \"{}\" is {}, needs a whole number of at least {}", file_.string(), field, found->dump(),
                         least);
  return found->get<std::int64_t>();
}

double StateReader::number(const std::string& field, double otherwise) const {
  const auto found = state_.find(field);
  if (found == state_.end()) return otherwise;
  if (!found->is_number())
    throw base::BadInput("{}: \"{}\" is {}, needs a number", file_.string(), field, found->dump());
  return found->get<double>();
}

}  // namespace ut::core
