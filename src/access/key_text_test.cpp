#include "access/key_text.h"

#include <gtest/gtest.h>

#include <set>

namespace footnote::access {
namespace {

TEST(KeyTextTest, AFreshKeyChecksAndNoTwoAreEqual) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = make_key_text();
    EXPECT_EQ(key.size(), kKeyChars);
    EXPECT_TRUE(is_key_text(key)) << key;
    EXPECT_TRUE(seen.insert(key).second);
  }
}

TEST(KeyTextTest, EveryWrongCharacterIsNoticed) {
  const std::string key = make_key_text();
  for (std::size_t at = 0; at < key.size(); ++at) {
    std::string wrong = key;
    wrong[at] = wrong[at] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(is_key_text(wrong)) << at;
  }
  EXPECT_FALSE(is_key_text(""));
  EXPECT_FALSE(is_key_text(key.substr(1)));
  EXPECT_FALSE(is_key_text(key + "0"));
  EXPECT_FALSE(is_key_text(key.substr(0, key.size() - 1) + "\n"));
}

// The CRC-32 of thirty zeros, as computed by zlib, in base 62 (digits, capitals, small letters).
TEST(KeyTextTest, TheCheckIsTheOneThatOthersCompute) { EXPECT_TRUE(is_key_text("fn_live_0000000000000000000000000000002C8GjS")); }

TEST(KeyTextTest, LittleOfAKeyIsShown) { EXPECT_EQ(display_prefix("fn_live_abcdefghSECRETSECRETSECRETSECRE123456"), "fn_live_abcdefgh"); }

}  // namespace
}  // namespace footnote::access
