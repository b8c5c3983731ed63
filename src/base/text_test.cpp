#include "base/text.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, TrimCutsAsciiSpaceOnly) {
  EXPECT_EQ(trim(" \t\r\n a b \v\f"), "a b");
  EXPECT_EQ(trim("   "), "");
  EXPECT_EQ(trim("\xc2\xa0x"), "\xc2\xa0x");
}

TEST(Text, LowerLeavesOtherBytesAlone) { EXPECT_EQ(to_lower_ascii("ABC\xc3\x89z[@"), "abc\xc3\x89z[@"); }

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Parts{""}));
}

TEST(Text, Join) {
  EXPECT_EQ(join({"a", "b", "c"}, " > "), "a > b > c");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Text, StartsWithIgnoringCase) {
  EXPECT_TRUE(starts_with_ignoring_case("Source: x", "sOURCE"));
  EXPECT_FALSE(starts_with_ignoring_case("sour", "source"));
  EXPECT_TRUE(starts_with_ignoring_case("x", ""));
}

TEST(Text, FoldSpaces) {
  EXPECT_EQ(fold_spaces("  a \n\t b  "), "a b");
  EXPECT_EQ(fold_spaces(" \n "), "");
}

TEST(Text, WholeNumbersAreTheWholeText) {
  EXPECT_EQ(parse_whole_number("42"), 42);
  EXPECT_EQ(parse_whole_number("-7"), -7);
  EXPECT_EQ(parse_whole_number<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "9223372036854775808"}) EXPECT_FALSE(parse_whole_number(text)) << text;
  EXPECT_FALSE(parse_whole_number<std::uint16_t>("65536"));
  EXPECT_FALSE(parse_whole_number<unsigned>("-1"));
}

TEST(Text, HexDigitsInEitherCase) {
  EXPECT_EQ(hex_digit('0'), 0);
  EXPECT_EQ(hex_digit('f'), 15);
  EXPECT_EQ(hex_digit('A'), 10);
  for (const char c : {'g', 'G', '/', ':', '@', '`', ' '}) EXPECT_FALSE(hex_digit(c)) << c;
}

TEST(Text, Hex) { EXPECT_EQ(to_hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a"); }

TEST(Text, HumanBytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 KB");
  EXPECT_EQ(human_bytes(83'500'000), "83.5 MB");
  EXPECT_EQ(human_bytes(999'999), "1.0 MB");
  EXPECT_EQ(human_bytes(150'000'000), "150 MB");
}

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("question", "quesiton", 3), 2u);
  EXPECT_EQ(edit_distance("", "abc", 5), 3u);
  EXPECT_EQ(edit_distance("same", "same", 3), 0u);
  EXPECT_EQ(edit_distance("abcdef", "uvwxyz", 3), 4u) << "cut off at limit + 1";
  EXPECT_EQ(edit_distance("a", "abcdefgh", 3), 4u);
}

}  // namespace
}  // namespace footnote
