#include "base/base64.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

TEST(Base64, GivesTheVectorsOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\xFB\xFF\x00", 3)), "+/8A");
}

TEST(Base64, Appends) {
  std::string out = "\"";
  append_base64(out, "foo");
  EXPECT_EQ(out, "\"Zm9v");
}

TEST(Base64, ReadsWhatItWrites) {
  for (const std::string& bytes : {std::string(), std::string("f"), std::string("fo"), std::string("foo"), std::string("\0\xFF\x80", 3)}) {
    EXPECT_EQ(decode_base64(base64(bytes)).value(), bytes);
  }
  EXPECT_EQ(decode_base64("Zg").value(), "f") << "padding may be left out";
  for (const char* text : {"Z", "Zm9vY", "Zm 9v", "Zm9v\n", "====", "Zg===", "Zm9v-_"}) {
    EXPECT_EQ(decode_base64(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace footnote
