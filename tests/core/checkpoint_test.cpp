#include "core/checkpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "core/checkpoint_directory.h"
#include "tests/bad_input.h"
#include "tests/core/random_batch.h"
#include "tests/temporary_directory.h"

namespace ut::core {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using tests::bad_input;

constexpr const char* files[] = {"model.safetensors", "optimizer.safetensors", "state.json"};

/// A model, its optimizer, and the directory for their checkpoints.
class Checkpoint : public testing::Test {
 protected:
  void update(int times) {
    for (; times > 0; --times) {
      const at::Tensor gradient =
          random_tensor({model_.parameters().elements()}, static_cast<std::uint64_t>(adam_.updates()));
      adam_.step(model_.parameters().flat(), gradient, 0.01);
    }
  }

  fs::path write() const {
    write_checkpoint(directory_.path(), model_, adam_, {{"cursor", 17}, {"best", 0.1}, {"task", "copy"}});
    return find_checkpoint(directory_.path(), "latest");
  }

  std::string load_refusal(const fs::path& checkpoint) const {
    UniversalTransformer other(model_.options(), 6);
    Adam its({}, other.parameters());
    return tests::bad_input([&] { load_checkpoint(checkpoint, other.parameters(), &its); });
  }

  std::string find_refusal(const std::string& which) const {
    return tests::bad_input([&] { find_checkpoint(directory_.path(), which); });
  }

  /// Changes a field of state.json and its digest with it.
  static void rewrite_state(const fs::path& checkpoint, const std::string& field, const json& value) {
    json state = read_state(checkpoint);
    state[field] = value;
    const std::string text = state.dump();
    state["digest"] = base::digest(text.data(), text.size());
    base::write_file_whole(checkpoint / "state.json", state.dump());
  }

  bool has(const std::string& name) const { return fs::exists(directory_.path() / name); }

  tests::TemporaryDirectory directory_;
  UniversalTransformer model_{small_options(), 5};
  Adam adam_{{}, model_.parameters()};
};

TEST_F(Checkpoint, StateCanBeReplaced) {
  update(3);
  const fs::path path = write();
  replace_state(path, {{"cursor", 18}});
  const json state = read_state(path);
  EXPECT_EQ(state.at("cursor"), 18);
  EXPECT_EQ(state.at("update"), 3);
  EXPECT_FALSE(state.contains("best"));
  EXPECT_EQ(load_refusal(path), "");
}

TEST_F(Checkpoint, ComesBackAsItWas) {
  update(3);
  const fs::path path = write();
  UniversalTransformer other(model_.options(), 6);
  Adam its({}, other.parameters());
  load_checkpoint(path, other.parameters(), &its);
  EXPECT_TRUE(other.parameters().flat().equal(model_.parameters().flat()));
  EXPECT_TRUE(its.first_moment().equal(adam_.first_moment()));
  EXPECT_TRUE(its.second_moment().equal(adam_.second_moment()));
  EXPECT_EQ(its.updates(), 3);
  const json state = read_state(path);
  EXPECT_EQ(state.at("cursor"), 17);
  EXPECT_EQ(state.at("best"), 0.1);
  EXPECT_EQ(state.at("task"), "copy");
  EXPECT_EQ(state.at("update"), 3);
}

TEST_F(Checkpoint, FillsAModelWithoutItsOptimizer) {
  update(1);
  const fs::path path = write();
  UniversalTransformer other(model_.options(), 6);
  load_checkpoint(path, other.parameters(), nullptr);
  EXPECT_TRUE(other.parameters().flat().equal(model_.parameters().flat()));
  EXPECT_TRUE(other.parameters().all()[0].tensor.equal(model_.parameters().all()[0].tensor));
}

TEST_F(Checkpoint, IsFoundByLatestBestAndUpdate) {
  EXPECT_THAT(find_refusal("latest"), HasSubstr("latest"));
  update(1);
  const fs::path first = write();
  EXPECT_EQ(first, directory_.path() / "update-00000001");
  EXPECT_THAT(find_refusal("best"), HasSubstr("best"));
  point_at(directory_.path(), "best", 1);
  update(9);
  const fs::path second = write();
  EXPECT_EQ(second, directory_.path() / "update-00000010");
  EXPECT_EQ(find_checkpoint(directory_.path(), "best"), first);
  EXPECT_EQ(find_checkpoint(directory_.path(), "update-1"), first);
  EXPECT_EQ(find_checkpoint(directory_.path(), "update-00000010"), second);
  for (const char* which : {"update-2", "update-", "update-x", "../x", "newest", "", "."})
    EXPECT_THAT(find_refusal(which), HasSubstr(directory_.path().string())) << which;
}

TEST_F(Checkpoint, ReplacesAnOlderOneOfTheSameUpdate) {
  update(2);
  write();
  at::Tensor(model_.parameters().flat()).add_(1);
  const fs::path path = write();
  UniversalTransformer other(model_.options(), 6);
  load_checkpoint(path, other.parameters(), nullptr);
  EXPECT_TRUE(other.parameters().flat().equal(model_.parameters().flat()));
}

TEST_F(Checkpoint, IsRefusedIfCutShort) {
  update(1);
  for (const char* file : files) {
    const fs::path path = write() / file;
    const auto whole = fs::file_size(path);
    for (const auto size : {std::uintmax_t{0}, std::uintmax_t{5}, whole / 2, whole - 2}) {
      write();
      fs::resize_file(path, size);
      EXPECT_THAT(load_refusal(path.parent_path()), HasSubstr(path.string())) << size << " bytes";
    }
  }
}

TEST_F(Checkpoint, IsRefusedWithAFlippedByte) {
  update(1);
  for (const char* file : files) {
    const fs::path path = write() / file;
    const std::string whole = base::read_file(path);
    for (std::size_t part = 0; part < 20; ++part) {
      const std::size_t at = part * (whole.size() - 2) / 19;  // not the last byte: in state.json that is an end of line
      std::string altered = whole;
      altered[at] = static_cast<char>(altered[at] ^ 1);
      base::write_file_whole(path, altered);
      EXPECT_THAT(load_refusal(path.parent_path()), HasSubstr(path.string())) << "byte " << at;
    }
    base::write_file_whole(path, whole);
    EXPECT_EQ(load_refusal(path.parent_path()), "");
  }
}

TEST_F(Checkpoint, IsRefusedWithoutOneOfItsFiles) {
  update(1);
  for (const char* file : files) {
    const fs::path path = write() / file;
    fs::remove(path);
    EXPECT_THAT(load_refusal(path.parent_path()), HasSubstr(path.string()));
  }
}

TEST_F(Checkpoint, IsRefusedWithFieldsOfTheWrongType) {
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, json>>{{"format", "1"},
                                                 {"format", 2},
                                                 {"format", nullptr},
                                                 {"update", "3"},
                                                 {"update", -1},
                                                 {"update", 1.5},
                                                 {"update", std::uint64_t{1} << 63},
                                                 {"digests", 7},
                                                 {"digests", {{"model.safetensors", 7}}},
                                                 {"digests", {{"model.safetensors", "../../etc/passwd"}}}}) {
    const fs::path path = write();
    ASSERT_EQ(load_refusal(path), "");
    rewrite_state(path, field, value);
    const std::string message = load_refusal(path);
    EXPECT_THAT(message, HasSubstr(path.string())) << field << " " << value;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST_F(Checkpoint, IsRefusedIfNestedEndlessly) {
  const fs::path path = write();
  base::write_file_whole(path / "state.json", std::string(8000000, '['));
  EXPECT_THAT(load_refusal(path), HasSubstr("state.json"));
}

TEST_F(Checkpoint, IsNotFoundOutsideItsDirectory) {
  write();
  for (const std::string name : {"../elsewhere", "/etc", "update-", "update-1/../..", "\x1b[2J", ""}) {
    base::write_file_whole(directory_.path() / "latest", name + "\n");
    EXPECT_THAT(find_refusal("latest"), HasSubstr("no checkpoint")) << name;
  }
  base::write_file_whole(directory_.path() / "latest", "update-" + std::string(300, '1'));
  EXPECT_THAT(find_refusal("latest"), HasSubstr("no checkpoint"));
  EXPECT_THAT(find_refusal("latest"), EndsWith("give update-00000000")) << "latest cannot be had";
}

TEST_F(Checkpoint, IsRefusedForAnotherModel) {
  const fs::path path = write();
  const auto refused = [&](const auto& change) {
    ModelOptions options = model_.options();
    change(options);
    UniversalTransformer other(options, 5);
    return tests::bad_input([&] { load_checkpoint(path, other.parameters(), nullptr); });
  };
  EXPECT_THAT(refused([](ModelOptions& options) { options.vocabulary = 12; }), HasSubstr("table"));
  EXPECT_THAT(refused([](ModelOptions& options) { options.ffn = 13; }), HasSubstr("transition"));
  EXPECT_THAT(refused([](ModelOptions& options) { options.block_layers = 2; }), HasSubstr("layer1"));
  EXPECT_THAT(refused([](ModelOptions& options) { options.precision = Precision::float32; }), HasSubstr("Double"));
  EXPECT_THAT(refused([](ModelOptions& options) { options.architecture = Architecture::encoder; }),
              HasSubstr("decoder"))
      << "a tensor that the model has no place for";
}

TEST_F(Checkpoint, IgnoresWhatAKilledWriteLeft) {
  update(1);
  write();
  update(1);
  directory_.write("update-00000002.tmp/model.safetensors", "half of a");
  EXPECT_EQ(find_checkpoint(directory_.path(), "latest"), directory_.path() / "update-00000001");
  EXPECT_NE(find_refusal("update-2"), "");
  EXPECT_NE(find_refusal("update-00000002.tmp"), "");
  EXPECT_EQ(load_refusal(write()), "");
  EXPECT_FALSE(has("update-00000002.tmp"));
}

TEST_F(Checkpoint, RemovalKeepsTheNewestTheLatestAndTheBest) {
  for (int written = 0; written < 5; ++written) {
    update(1);
    write();
  }
  point_at(directory_.path(), "best", 2);
  remove_old_checkpoints(directory_.path(), 2);
  for (const auto& [update, kept] : {std::pair{1, false}, {2, true}, {3, false}, {4, true}, {5, true}})
    EXPECT_EQ(has(fmt::format("update-{:08d}", update)), kept) << update;
  point_at(directory_.path(), "latest", 2);
  remove_old_checkpoints(directory_.path(), 0);
  for (const auto& [update, kept] : {std::pair{2, true}, {4, false}, {5, false}})
    EXPECT_EQ(has(fmt::format("update-{:08d}", update)), kept) << update;
}

TEST_F(Checkpoint, IsNewerWithALaterUpdateWhateverItsDigits) {
  for (const char* name : {"update-99999999", "update-100000000", "update-00000007", "update-8", "update-00000009.tmp"})
    fs::create_directory(directory_.path() / name);
  std::vector<std::string> names;
  for (const fs::path& found : all_checkpoints(directory_.path())) names.push_back(found.filename().string());
  EXPECT_THAT(names, testing::ElementsAre("update-100000000", "update-99999999", "update-00000007"));
}

TEST_F(Checkpoint, RemovalCountsWholeCheckpointsOnly) {
  update(1);
  write();
  update(1);
  write();
  directory_.write("update-00000003.tmp/model.safetensors", "half of a");
  remove_old_checkpoints(directory_.path(), 2);
  EXPECT_TRUE(has("update-00000001"));
  EXPECT_TRUE(has("update-00000002"));
}

TEST_F(Checkpoint, RemovalKeepsEveryNth) {
  for (int written = 0; written < 7; ++written) {
    update(1);
    write();
  }
  remove_old_checkpoints(directory_.path(), 1, 3);
  for (const auto& [update, kept] : {std::pair{1, false}, {2, false}, {3, true}, {5, false}, {6, true}, {7, true}})
    EXPECT_EQ(has(fmt::format("update-{:08d}", update)), kept) << update;
}

TEST_F(Checkpoint, RemovesThoseOfLaterUpdatesWhenWritten) {
  update(2);
  write();
  update(2);
  write();
  adam_.restore(2);
  update(1);
  write();
  EXPECT_TRUE(has("update-00000002"));
  EXPECT_TRUE(has("update-00000003"));
  EXPECT_FALSE(has("update-00000004"));
  EXPECT_EQ(find_checkpoint(directory_.path(), "latest"), directory_.path() / "update-00000003");
}

TEST_F(Checkpoint, MayBeMissingThoughBestNamesIt) {
  update(1);
  write();
  point_at(directory_.path(), "best", 9);
  remove_old_checkpoints(directory_.path(), 1);
  EXPECT_TRUE(has("update-00000001"));
  EXPECT_THAT(find_refusal("best"), HasSubstr("update-00000009"));
}

TEST_F(Checkpoint, CannotBeReachedByNameFromAnotherDirectory) {
  update(1);
  write();
  const fs::path inner = directory_.path() / "inner";
  fs::create_directories(inner);
  directory_.write("inner/latest", "../update-00000001\n");
  EXPECT_THAT(bad_input([&] { find_checkpoint(inner, "latest"); }), HasSubstr("../update-00000001"));
  EXPECT_NE(bad_input([&] { find_checkpoint(inner, "../update-1"); }), "");
}

TEST_F(Checkpoint, RefusalOffersTheNewestWholeOneBeforeOrElseAfter) {
  for (int written = 0; written < 4; ++written) {
    update(1);
    write();
  }
  directory_.write("update-00000003/optimizer.safetensors", "damaged");
  fs::remove(directory_.path() / "update-00000004/state.json");
  EXPECT_THAT(load_refusal(directory_.path() / "update-00000004"), HasSubstr("--checkpoint update-00000002"));
  directory_.write("update-00000001/model.safetensors", "damaged");
  EXPECT_THAT(load_refusal(directory_.path() / "update-00000001"), HasSubstr("--checkpoint update-00000002"));
  directory_.write("update-00000002/model.safetensors", "damaged");
  EXPECT_THAT(load_refusal(directory_.path() / "update-00000001"), HasSubstr("no checkpoint is whole"));
}

/// A read may fail for a moment only, over a network, say; the checkpoint may be whole.
TEST_F(Checkpoint, IsNotTakenForDamagedIfItCannotBeRead) {
  update(3);
  const fs::path checkpoint = write();
  EXPECT_TRUE(is_whole(checkpoint));
  fs::remove(checkpoint / "optimizer.safetensors");
  fs::create_symlink("/proc/self/mem", checkpoint / "optimizer.safetensors");
  EXPECT_THAT(bad_input([&] { is_whole(checkpoint); }), HasSubstr("optimizer.safetensors: cannot be read: "));
  fs::remove(checkpoint / "optimizer.safetensors");
  EXPECT_FALSE(is_whole(checkpoint));
}

TEST_F(Checkpoint, IsRemovedEvenIfItsLeftoversCannotBe) {
  update(1);
  const fs::path checkpoint = write();
  const fs::path left = directory_.write("update-00000001.old.tmp/model.safetensors", "the rest").parent_path();
  fs::permissions(directory_.path(), fs::perms::all);
  fs::permissions(left, fs::perms::owner_write, fs::perm_options::remove);
  const bool can_remove_all = ::geteuid() == 0;
  constexpr uid_t nobody = 65534;
  if (can_remove_all && ::seteuid(nobody) != 0) FAIL() << "cannot become another user";
  EXPECT_NO_THROW(remove_checkpoint(checkpoint));
  if (can_remove_all && ::seteuid(0) != 0) FAIL() << "cannot become root again";
  EXPECT_FALSE(has("update-00000001"));
  fs::permissions(left, fs::perms::owner_all);
  remove_unfinished(directory_.path());
  EXPECT_TRUE(all_checkpoints(directory_.path()).empty());
}

TEST_F(Checkpoint, LeftoversOfKilledWritesAreRemovedAndNothingElse) {
  update(1);
  write();
  directory_.write("update-00000002.tmp/model.safetensors", "half of a");
  directory_.write("update-00000001.old.tmp/model.safetensors", "the rest of an old one");
  directory_.write("latest.tmp", "update-0");
  remove_unfinished(directory_.path());
  EXPECT_FALSE(has("update-00000002.tmp") || has("update-00000001.old.tmp") || has("latest.tmp"));
  EXPECT_EQ(load_refusal(find_checkpoint(directory_.path(), "latest")), "");
}

}  // namespace
}  // namespace ut::core
