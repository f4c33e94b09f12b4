#include "launcher/options/exchange_names.h"

#include <algorithm>

namespace ut::launcher {
namespace {

template <class Value>
std::string name_in(const Names<Value>& names, Value value) {
  return std::ranges::find(names, value, &std::pair<std::string, Value>::second)->first;
}

}  // namespace

const Names<dist::ExchangeForm>& exchange_forms() {
  static const Names<dist::ExchangeForm> names = {{"all-gather", dist::ExchangeForm::all_gather},
                                                  {"broadcast", dist::ExchangeForm::broadcast},
                                                  {"ring", dist::ExchangeForm::ring},
                                                  {"heads", dist::ExchangeForm::heads}};
  return names;
}

const Names<dist::Sent>& exchange_sends() {
  static const Names<dist::Sent> names = {{"keys-values", dist::Sent::keys_values}, {"states", dist::Sent::states}};
  return names;
}

const Names<dist::Cut>& exchange_cuts() {
  static const Names<dist::Cut> names = {{"contiguous", dist::Cut::contiguous}, {"zigzag", dist::Cut::zigzag}};
  return names;
}

std::string name_of(dist::ExchangeForm form) { return name_in(exchange_forms(), form); }
std::string name_of(dist::Sent sent) { return name_in(exchange_sends(), sent); }
std::string name_of(dist::Cut cut) { return name_in(exchange_cuts(), cut); }

}  // namespace ut::launcher
