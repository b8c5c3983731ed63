#include "base/unicode.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(Nfkc, PlainTextStaysAsItIs) {
  for (const char* text : {"", "a < b & c", "caf\u00e9", "\u4e2d\u6587"}) EXPECT_EQ(to_nfkc(text), text);
}

TEST(Nfkc, OtherFormsBecomeThePlainOnes) {
  EXPECT_EQ(to_nfkc("\uff1c\uff0f\uff53ource\uff1e"), "</source>");
  EXPECT_EQ(to_nfkc("\ufe64/\U0001d42c\U0001d428urce\ufe65"), "</source>");
  EXPECT_EQ(to_nfkc("cafe\u0301"), "caf\u00e9");
}

TEST(Nfkc, MalformedBytesAreReplaced) { EXPECT_EQ(to_nfkc("a\xff\u00e9"), "a\ufffd\u00e9"); }

}  // namespace
}  // namespace footnote
