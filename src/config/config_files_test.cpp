#include <gtest/gtest.h>

#include "config/dot_env.h"
#include "config/toml_file.h"

namespace footnote {
namespace {

TEST(TomlFile, BoundsALine) {
  const std::string key(kTomlLineBytesMax - 4, 'k');
  const auto leaves = parse_toml("a = 1\n" + key + " = 2\nb = 3\n", "footnote.toml");
  ASSERT_TRUE(leaves.has_value()) << leaves.error().message;
  EXPECT_EQ(leaves->size(), 3U);
  const auto refused = parse_toml("a = 1\nk" + key + " = 2\n", "footnote.toml");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("footnote.toml:2"), std::string::npos) << refused.error().message;
}

/// Each dot nests another table.
TEST(TomlFile, AKeyOfManyDotsIsAnErrorNotACrash) {
  std::string dots;
  for (int i = 0; i < 500'000; ++i) dots += "a.";
  for (const std::string& text : {dots + "a = 1\n", "[" + dots + "a]\nb = 1\n"}) {
    EXPECT_EQ(parse_toml(text, "footnote.toml").error().code, ErrorCode::kInvalidArgument);
  }
  const auto deepest = parse_toml(dots.substr(0, kTomlLineBytesMax - 6) + "a=1\n", "footnote.toml");
  ASSERT_TRUE(deepest.has_value()) << deepest.error().message;
  EXPECT_EQ(deepest->size(), 1U);
}

TEST(DotEnv, OfManyNamesTheLastOfEachCounts) {
  constexpr int kNames = 100'000;
  std::string text;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kNames; ++i) text += "A" + std::to_string(i) + "=" + std::to_string(round) + "\n";
  }
  const auto entries = parse_dot_env(text, ".env");
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), static_cast<std::size_t>(kNames));
  EXPECT_EQ(entries->front().name, "A0");
  EXPECT_EQ(entries->front().value, "1");
  EXPECT_EQ(entries->back().line, 2 * kNames);
}

}  // namespace
}  // namespace footnote
