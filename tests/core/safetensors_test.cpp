#include "core/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>

#include "base/error.h"
#include "tests/core/random_batch.h"
#include "tests/temporary_directory.h"

namespace ut::core {
namespace {

using testing::HasSubstr;

/// A file of this header and so many bytes of data.
std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t size = header.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + header + std::string(data, 'x');
}

/// The message of the refusal; empty if the bytes are accepted.
std::string refusal(const std::string& bytes) {
  try {
    parse_safetensors(bytes, "some.safetensors");
  } catch (const base::BadInput& error) {
    return error.what();
  }
  return {};
}

Safetensors some_content() {
  Safetensors content;
  content.tensors["kernel"] = random_tensor({3, 4}, 1);
  content.tensors["transposed"] = random_tensor({5, 2}, 2).t();
  content.tensors["single"] = random_tensor({7}, 3).to(at::kFloat);
  content.tensors["scalar"] = at::full({}, 2.5, at::kDouble);
  content.tensors["nothing"] = at::empty({0, 3}, at::kFloat);
  content.tensors["whole"] = at::tensor({std::int64_t{-1}, std::int64_t{1} << 40}, at::kLong);
  content.tensors["small"] = at::tensor({-1, 1 << 20}, at::kInt);
  content.metadata["words"] = "anything, \"quoted\"\n";
  return content;
}

TEST(Safetensors, ComeBackAsTheyWere) {
  const Safetensors before = some_content();
  const Safetensors after = parse_safetensors(safetensors_bytes(before), "some.safetensors");
  EXPECT_EQ(after.metadata, before.metadata);
  ASSERT_EQ(after.tensors.size(), before.tensors.size());
  for (const auto& [name, tensor] : before.tensors) {
    EXPECT_EQ(after.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(after.at(name).equal(tensor)) << name;
  }
}

TEST(Safetensors, AlignTheirNumbers) {
  for (std::size_t letters = 1; letters < 9; ++letters) {
    Safetensors content;
    content.tensors[std::string(letters, 'a')] = random_tensor({3, 4}, 1);
    const std::string bytes = safetensors_bytes(content);
    EXPECT_EQ((bytes.size() - 12 * sizeof(double)) % sizeof(double), 0) << letters;
  }
}

TEST(Safetensors, AreReadFromAFile) {
  const tests::TemporaryDirectory directory;
  const auto path = directory.write("some.safetensors", safetensors_bytes(some_content()));
  EXPECT_TRUE(read_safetensors(path).at("kernel").equal(random_tensor({3, 4}, 1)));
  EXPECT_THROW(read_safetensors(directory.path() / "other.safetensors"), base::BadInput);
}

TEST(Safetensors, ReadFilesOfOtherPrograms) {
  const std::string header = R"({"b":{"dtype":"I32","shape":[2],"data_offsets":[4,12]},)"
                             R"("a":{"data_offsets":[0,4],"shape":[1,1],"dtype":"F32"}}  )";
  const Safetensors content = parse_safetensors(file_of(header, 12), "some.safetensors");
  EXPECT_EQ(content.at("a").sizes(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(content.at("b")[1].item<int>(), 0x78787878);
}

TEST(Safetensors, NameATensorThatIsNotThere) {
  try {
    some_content().at("bias");
    FAIL() << "taken";
  } catch (const base::BadInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("bias"));
  }
}

TEST(Safetensors, RefuseAFileCutShortAnywhere) {
  const std::string whole = safetensors_bytes(some_content());
  ASSERT_EQ(refusal(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_THAT(refusal(whole.substr(0, size)), HasSubstr("some.safetensors")) << "cut to " << size << " bytes";
}

TEST(Safetensors, RefuseADamagedHeader) {
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"kernel":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  ASSERT_EQ(refusal(file_of(entry(R"("F32")", "[2,2]", "[0,16]"), 16)), "");
  std::string long_list;
  for (int dimension = 0; dimension < 64; ++dimension) long_list += "1,";
  const std::string headers[] = {
      entry(R"("F32")", "[2,2]", "[0,17]"),                                       // beyond the end
      entry(R"("F32")", "[2,2]", "[8,24]"),                                       // beyond the end
      entry(R"("F32")", "[2,2]", "[16,0]"),                                       // end before begin
      entry(R"("F32")", "[2,2]", "[-16,0]"),                                      // before the data
      entry(R"("F32")", "[2,2]", "[18446744073709551600,0]"),                     // wraps round
      entry(R"("F32")", "[2,2]", "[0]"),                                          // no end
      entry(R"("F32")", "[2,3]", "[0,16]"),                                       // more elements than bytes
      entry(R"("F32")", "[1,2]", "[0,16]"),                                       // fewer
      entry(R"("F32")", "[-2,-2]", "[0,16]"),                                     // negative
      entry(R"("F32")", "[0,-4]", "[0,0]"),                                       // negative, of no bytes
      entry(R"("F32")", "[-4]", "[0,0]"),                                         // negative
      entry(R"("F32")", "[4294967296,4294967296,4]", "[0,0]"),                    // the product overflows to 0
      entry(R"("F32")", "[1099511627776]", "[0,4398046511104]"),                  // more bytes than the file has
      entry(R"("F32")", "[1152921504606846976]", "[0,16]"),                       // 2^60 elements
      entry(R"("F32")", "[0,4611686018427387904,4611686018427387904]", "[0,0]"),  // no element, but strides overflow
      entry(R"("F32")", "[18446744073709551615]", "[0,16]"),                      // beyond int64
      entry(R"("F32")", "[" + long_list + "4]", "[0,16]"),                        // too many dimensions
      entry(R"("F32")", "[4.0]", "[0,16]"),                                       // not an integer
      entry(R"("F32")", "[2,2]", "[0,16,16]"),                                    // two ends
      entry(R"("F32")", std::string(100000, '['), "[0,16]"),                      // nested without end
      entry(R"("F32")", R"("2x2")", "[0,16]"),                                    // not a list
      entry(R"("F8")", "[2,2]", "[0,16]"),                                        // unknown type
      entry("32", "[2,2]", "[0,16]"),                                             // not a name
      R"({"kernel":{"dtype":"F32","shape":[2,2]}})",                              // no offsets
      R"({"kernel":{"shape":[2,2],"data_offsets":[0,16]}})",                      // no type
      R"({"kernel":{"dtype":"F32","data_offsets":[0,16]}})",                      // no shape
      R"({"kernel":7})",                                                          // not an entry
      R"({"__metadata__":{"words":7}})",                                          // metadata are strings
      R"([{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}])",                 // not an object
      "null",                                                                     // not an object
      "7",                                                                        // not an object
      R"({"kernel":{"dtype":"F32")",                                              // not JSON
      "",                                                                         // empty
  };
  for (const auto& header : headers) EXPECT_THAT(refusal(file_of(header, 16)), HasSubstr("some.safetensors")) << header;
}

TEST(Safetensors, NameTheTensorThatIsDamaged) {
  EXPECT_THAT(refusal(file_of(R"({"kernel":{"dtype":"F8","shape":[2],"data_offsets":[0,2]}})", 2)),
              testing::AllOf(HasSubstr("kernel"), HasSubstr("F8")));
}

TEST(Safetensors, RefuseTensorsThatShareTheirBytes) {
  EXPECT_THAT(refusal(file_of(R"({"first":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                              R"("second":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                              40)),
              HasSubstr("second: shares its bytes with others"));
  std::string many = R"({"t0":{"dtype":"F32","shape":[4],"data_offsets":[0,16]})";
  for (int tensor = 1; tensor < 1000; ++tensor)
    many += fmt::format(R"(,"t{}":{{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", tensor);
  EXPECT_THAT(refusal(file_of(many + "}", 100000)), HasSubstr("shares its bytes with others"));
}

TEST(Safetensors, RefuseAHugeHeaderBeforeTakingMemory) {
  for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{7}}) {
    std::string bytes = file_of("{}", 16);
    std::memcpy(bytes.data(), &size, sizeof size);
    EXPECT_THAT(refusal(bytes), HasSubstr("some.safetensors")) << size;
  }
}

}  // namespace
}  // namespace ut::core
