#include "engine/nn/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "support/temp_folder.h"

namespace footnote::nn {
namespace {

// Pads the header with spaces to align the data, as writers do.
std::string file_of(std::string_view header, std::string_view data) {
  const std::uint64_t length = (header.size() + 7) / 8 * 8;
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out.append(header).append(length - header.size(), ' ').append(data);
}

Result<SafeTensors> open_bytes(std::string_view bytes) {
  const test::TempFolder folder;
  folder.write("x.safetensors", bytes);
  return SafeTensors::open(folder.path() / "x.safetensors");  // The mapping outlives the file.
}

// Two tensors over 24 bytes.
const std::string kGood = file_of(
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"I64","shape":[1],"data_offsets":[16,24]}})",
    std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16) + std::string(8, '\0'));

TEST(SafeTensors, FindsTensorsByNameTypeAndShape) {
  const auto file = open_bytes(kGood);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto floats = file->floats("a", {2, 2});
  ASSERT_TRUE(floats.has_value()) << floats.error().message;
  EXPECT_EQ(std::vector<float>(floats->begin(), floats->end()), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(file->tensor("b")->type, DataType::kI64);
  EXPECT_TRUE(file->has("a"));
  EXPECT_FALSE(file->has("__metadata__"));
  EXPECT_EQ(file->floats("a", {4}).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(file->floats("b", {1}).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(file->floats("c", {1}).error().code, ErrorCode::kCorrupted);
}

TEST(SafeTensors, ReadsMatricesThatAreKeptAsByteRows) {
  const std::string data = std::string("\x01\xff\x02\0", 4) + std::string("\0\0\0\x3f\0\0\0\x40", 8);
  const auto file = open_bytes(file_of(
      R"({"m.int8":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},"m.scale":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}})",
      data));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_TRUE(file->has_byte_rows("m"));
  EXPECT_FALSE(file->has_byte_rows("n"));
  const auto values = file->read_floats("m.weight", {2, 2});
  ASSERT_TRUE(values.has_value()) << values.error().message;
  EXPECT_EQ(*values, (std::vector<float>{.5F, -.5F, 4, 0}));
  EXPECT_EQ(file->read_floats("m.weight", {4, 1}).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(file->read_floats("n.weight", {2, 2}).error().code, ErrorCode::kCorrupted);
  const auto without_scale =
      open_bytes(file_of(R"({"m.int8":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]}})", std::string_view(data).substr(0, 4)));
  ASSERT_TRUE(without_scale.has_value());
  EXPECT_EQ(without_scale->read_floats("m.weight", {2, 2}).error().code, ErrorCode::kCorrupted);
}

void expect_corrupted(std::string_view header, std::string_view data) {
  const auto file = open_bytes(file_of(header, data));
  ASSERT_FALSE(file.has_value()) << header;
  EXPECT_EQ(file.error().code, ErrorCode::kCorrupted) << header;
}

TEST(SafeTensors, RefusesHeadersThatLie) {
  const std::string data(16, '\0');
  expect_corrupted("", data);
  expect_corrupted("[]", data);
  expect_corrupted(R"({"a":)", data);
  expect_corrupted(R"({"a":1})", data);
  expect_corrupted(R"({"a":{"shape":[4],"data_offsets":[0,16]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","data_offsets":[0,16]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[4]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,17]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[-16,0]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", data);
  expect_corrupted(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", data);
}

TEST(SafeTensors, RefusesLengthsThatLie) {
  EXPECT_EQ(open_bytes("").error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(open_bytes("\x10\0\0").error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(open_bytes(std::string(8, '\xFF') + "{}").error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(open_bytes(std::string("\x03\0\0\0\0\0\0\0{}", 10)).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(SafeTensors::open("/nonexistent/x").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(SafeTensors::open("/").has_value());
}

TEST(SafeTensors, DamageNeverReadsOutside) {
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = kGood.substr(0, random() % (kGood.size() + 1));
    for (int i = 0; i < 3 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto file = open_bytes(bytes);
    if (!file) continue;
    if (const auto floats = file->floats("a", {2, 2})) {
      const char* end = reinterpret_cast<const char*>(floats->data() + floats->size());
      ASSERT_LE(end, file->file_bytes().data() + file->file_bytes().size());
    }
  }
}

}  // namespace
}  // namespace footnote::nn
