#include "answer/whole_characters.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace footnote::answer {
namespace {

std::string passed(std::string_view text, std::size_t piece_bytes) {
  WholeCharacters characters;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    const std::string piece = characters.take(text.substr(at, piece_bytes));
    EXPECT_TRUE(is_valid_utf8(piece));
    out += piece;
  }
  return out + characters.finish();
}

TEST(WholeCharacters, ACharacterCutByAPieceWaits) {
  const std::string text = "caf\xC3\xA9 \xE2\x82\xAC 5 \xF0\x9F\x98\x80.";
  for (const std::size_t bytes : {1, 2, 3, 4, 50}) EXPECT_EQ(passed(text, bytes), text) << bytes;
}

TEST(WholeCharacters, OtherBytesAreReplaced) {
  for (const std::string_view bad :
       {"\xFF", "a\x80z", "\xC3(", "\xE2\x82", "\xF0\x9F\x98", "\xED\xA0\x80", "\xC0\xAF", "\xF5\x80\x80\x80"}) {
    for (const std::size_t bytes : {1, 2, 3, 50}) {
      const std::string out = passed(bad, bytes);
      EXPECT_TRUE(is_valid_utf8(out));
      EXPECT_NE(out.find("\xEF\xBF\xBD"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace footnote::answer
