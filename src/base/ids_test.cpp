#include "base/ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <type_traits>
#include <unordered_set>

namespace footnote {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;
static_assert(!std::is_convertible_v<AppleId, PearId>);
static_assert(!std::is_convertible_v<AppleId, std::int64_t>);
static_assert(!std::is_convertible_v<std::int64_t, AppleId>);

TEST(Ids, ZeroIsNone) {
  EXPECT_FALSE(AppleId{});
  EXPECT_TRUE(AppleId{1});
  EXPECT_LT(AppleId{1}, AppleId{2});
  EXPECT_FALSE(TextId<struct AppleTag>{});
  EXPECT_EQ((std::unordered_set<AppleId>{{1}, {2}, {1}}.size()), 2u);
}

TEST(Ids, RandomNamesHaveTheAskedLengthAndAlphabet) {
  for (std::size_t count : {0u, 1u, 22u, 1000u}) {
    const std::string name = random_base62(count);
    EXPECT_EQ(name.size(), count);
    EXPECT_TRUE(std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c); })) << name;
  }
}

TEST(Ids, RandomNamesUseEveryDigitAboutEquallyOften) {
  const std::string name = random_base62(62'000);
  for (char c : std::set<char>(name.begin(), name.end())) EXPECT_NEAR(std::ranges::count(name, c), 1000, 200) << c;
  EXPECT_EQ(std::set<char>(name.begin(), name.end()).size(), 62u);
}

TEST(Ids, NoTwoAreEqual) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(random_base62(22));
    seen.insert(random_hex128());
  }
  EXPECT_EQ(seen.size(), 2000u);
  EXPECT_EQ(random_hex128().size(), 32u);
  EXPECT_EQ(random_hex128().find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace footnote
