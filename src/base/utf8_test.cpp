#include "base/utf8.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

constexpr std::string_view kFffd = "\xEF\xBF\xBD";

void check_malformed(std::string_view text, std::size_t first_bad) {
  EXPECT_FALSE(is_valid_utf8(text));
  EXPECT_EQ(first_invalid_utf8(text), first_bad);
  EXPECT_TRUE(is_valid_utf8(repair_utf8(text)));
}

TEST(Utf8, WellFormedTextComesBackAsItIs) {
  for (std::string_view text : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_EQ(repair_utf8(text), text);
    EXPECT_EQ(first_invalid_utf8(text), text.size());
  }
}

TEST(Utf8, FindsEveryKindOfMalformedSequence) {
  check_malformed("ab\xff", 2);
  check_malformed("\x80", 0);                  // A lone continuation byte.
  check_malformed("a\xc0\xaf", 1);             // overlong "/"
  check_malformed("\xe0\x80\xaf", 0);          // Overlong in three bytes.
  check_malformed("\xf0\x80\x80\xaf", 0);      // Overlong in four bytes.
  check_malformed("\xed\xa0\x80", 0);          // surrogate
  check_malformed("\xf4\x90\x80\x80", 0);      // Above U+10FFFF.
  check_malformed("\xf8\x88\x80\x80\x80", 0);  // Five bytes.
  check_malformed("x\xe2\x82", 1);             // Truncated.
}

TEST(Utf8, RepairKeepsTheGoodParts) {
  EXPECT_EQ(repair_utf8("a\xff"
                        "b"),
            "a" + std::string(kFffd) + "b");
  EXPECT_EQ(repair_utf8("\xc3"), kFffd);
}

TEST(Utf8, CodePointsReadAndWriteBack) {
  const std::string_view text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  std::string out;
  std::size_t at = 0, count = 0;
  for (; at < text.size(); ++count) append_utf8(out, next_code_point(text, at));
  EXPECT_EQ(out, text);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(count_code_points(text), 4u);
}

TEST(Utf8, AMalformedSequenceReadsAsReplacementAndMovesOneByte) {
  std::size_t at = 0;
  EXPECT_EQ(next_code_point("\xe2\x82", at), kReplacementCharacter);
  EXPECT_EQ(at, 1u);
}

TEST(Utf8, FirstCodePointsCountsCodePointsNotBytes) {
  EXPECT_EQ(first_code_points("añb", 2), "añ");
  EXPECT_EQ(first_code_points("añb", 9), "añb");
  EXPECT_EQ(first_code_points("a", 0), "");
}

TEST(Utf8, PrefixNeverCutsACodePoint) {
  const std::string_view text =
      "a\xe2\x82\xac"
      "b";
  EXPECT_EQ(utf8_prefix(text, 0), "");
  EXPECT_EQ(utf8_prefix(text, 1), "a");
  EXPECT_EQ(utf8_prefix(text, 3), "a");
  EXPECT_EQ(utf8_prefix(text, 4), "a\xe2\x82\xac");
  EXPECT_EQ(utf8_prefix(text, 99), text);
  EXPECT_TRUE(is_utf8_boundary(text, 1));
  EXPECT_FALSE(is_utf8_boundary(text, 2));
  EXPECT_TRUE(is_utf8_boundary(text, text.size()));
}

}  // namespace
}  // namespace footnote
