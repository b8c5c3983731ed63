#include "formats/encoding.h"

#include "base/utf8.h"
#include "formats/formats_for_test.h"

namespace footnote::formats {
namespace {

using namespace std::string_literals;

void check(std::string_view bytes, std::string_view text, std::string_view encoding) {
  const Decoded decoded = decode(bytes);
  EXPECT_EQ(decoded.text, text);
  EXPECT_EQ(decoded.encoding, encoding);
  EXPECT_FALSE(decoded.repaired);
}

TEST(Encoding, ByByteOrderMark) {
  check(
      "\xEF\xBB\xBF"
      "B\xC3\xBCro",
      "B\xC3\xBCro", "UTF-8");
  check(
      "\xFF\xFE"
      "B\0\xFC\0r\0o\0"s,
      "B\xC3\xBCro", "UTF-16LE");
  check("\xFE\xFF\0B\0\xFC\0r\0o"s, "B\xC3\xBCro", "UTF-16BE");
  check("\xFF\xFE\x3D\xD8\x00\xDE"s, "\xF0\x9F\x98\x80", "UTF-16LE");
  check(
      "\xFF\xFE\0\0"
      "B\0\0\0"s,
      "B", "UTF-32LE");
}

TEST(Encoding, Utf16WithoutAMark) {
  check("W\0o\0r\0d\0s\0.\0"s, "Words.", "UTF-16LE");
  check("\0W\0o\0r\0d\0s\0."s, "Words.", "UTF-16BE");
  EXPECT_FALSE(is_text("a\0b\0\0\0c\x01"s));
}

TEST(Encoding, OneByteEncodings) {
  check(
      "Das B\xFCro \xF6"
      "ffnet um 9 Uhr.",
      "Das B\xC3\xBCro \xC3\xB6"
      "ffnet um 9 Uhr.",
      "windows-1252");
  check("\x93Quotes\x94 \x96 and 5 \x80", "\xE2\x80\x9CQuotes\xE2\x80\x9D \xE2\x80\x93 and 5 \xE2\x82\xAC", "windows-1252");
}

TEST(Encoding, ShiftJis) {
  // "休暇は年に二十日です。申請は人事部に出してください。"
  const std::string bytes =
      "\x8b\x78\x89\xc9\x82\xcd\x94\x4e\x82\xc9\x93\xf1\x8f\x5c\x93\xfa\x82\xc5\x82\xb7\x81\x42\x90\x5c\x90\xbf\x82\xcd\x90\x6c\x8e\x96\x95"
      "\x94"
      "\x82\xc9\x8f\x6f\x82\xb5\x82\xc4\x82\xad\x82\xbe\x82\xb3\x82\xa2\x81\x42";
  const Decoded decoded = decode(bytes);
  EXPECT_EQ(decoded.encoding, "Shift_JIS");
  EXPECT_EQ(decoded.text, "休暇は年に二十日です。申請は人事部に出してください。");
  EXPECT_EQ(decoded.remark(), "read as Shift_JIS");
}

TEST(Encoding, NearlyUtf8IsRepaired) {
  const Decoded decoded = decode(
      "B\xC3\xBCro, Stra\xC3\x9F"
      "e, f\xC3\xBCnf, zw\xC3\xB6lf, \xC3\xBC"
      "ber, \xFF.");
  EXPECT_EQ(decoded.encoding, "UTF-8");
  EXPECT_TRUE(decoded.repaired);
  EXPECT_EQ(decoded.remark(), "not valid UTF-8; malformed bytes were replaced");
}

TEST(Encoding, APageMayNameItsEncoding) {
  const std::string page =
      "<html><meta charset='iso-8859-2'><p>\xA3\xF3"
      "d\xBC</p>";
  EXPECT_EQ(declared_charset(page), "iso-8859-2");
  const auto document = test::read("a.html", page);
  EXPECT_EQ(document.text,
            "\xC5\x81\xC3\xB3"
            "d\xC5\xBA");
  ASSERT_EQ(document.warnings.size(), 1u);
  EXPECT_EQ(document.warnings[0], "read as iso-8859-2");
  EXPECT_EQ(declared_charset("<meta charset=\"shift\xFFjis\">"), "");
}

TEST(Encoding, EveryByteStringBecomesUtf8) {
  for (int first = 0; first < 256; ++first) {
    for (const std::string_view rest : {"", "\xFF", "\xD8\x00 abc", "\x81\x82\x83 words"}) {
      EXPECT_TRUE(is_valid_utf8(decode(std::string(1, static_cast<char>(first)) + std::string(rest)).text));
    }
  }
}

}  // namespace
}  // namespace footnote::formats
