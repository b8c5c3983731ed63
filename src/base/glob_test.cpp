#include "base/glob.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace footnote {
namespace {

bool fits(std::string_view pattern, std::string_view path) { return Glob::compile(pattern).value().matches(path); }

/// A reference matcher: recursive, with memoised positions.
class Oracle {
 public:
  Oracle(std::string_view pattern, std::string_view path) : pattern_(pattern), path_(path) {}
  bool fits() { return at(0, 0); }

 private:
  bool at(std::size_t p, std::size_t s) {
    const auto known = seen_.find({p, s});
    if (known != seen_.end()) return known->second;
    return seen_[{p, s}] = look(p, s);
  }
  bool look(std::size_t p, std::size_t s) {
    const std::string_view rest = pattern_.substr(p);
    if (rest.empty()) return s == path_.size() || pattern_.ends_with('/');
    if ((p == 0 || pattern_[p - 1] == '/') && rest.starts_with("**/")) {
      if (at(p + 3, s)) return true;
      for (std::size_t i = s; i < path_.size(); ++i) {
        if (path_[i] == '/' && at(p + 3, i + 1)) return true;
      }
      return false;
    }
    if (rest.starts_with("**")) return at(p + 2, s) || (s < path_.size() && at(p, s + 1));
    const bool inside = s < path_.size() && path_[s] != '/';
    if (rest[0] == '*') return at(p + 1, s) || (inside && at(p, s + 1));
    if (rest[0] == '?') return inside && at(p + 1, s + 1);
    return s < path_.size() && path_[s] == rest[0] && at(p + 1, s + 1);
  }

  std::string_view pattern_;
  std::string_view path_;
  std::map<std::pair<std::size_t, std::size_t>, bool> seen_;
};

TEST(Glob, ReadsPathsAsPeopleMeanThem) {
  const std::tuple<std::string_view, std::string_view, bool> table[] = {
      {"a.md", "a.md", true},
      {"a.md", "b/a.md", false},
      {"*.md", "a.md", true},
      {"*.md", "docs/a.md", false},
      {"**/*.md", "a.md", true},
      {"**/*.md", "docs/deep/a.md", true},
      {"docs/**/*.md", "docs/a.md", true},
      {"docs/**/*.md", "docs/x/y/a.md", true},
      {"docs/**/*.md", "docsx/a.md", false},
      {"docs/**/b/*.md", "docs/ab/c.md", false},
      {"docs/**", "docs/a/b", true},
      {"docs/", "docs/a/b", true},
      {"docs/", "doc", false},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a?c", "aüc", true},
      {"a?c", "aüüc", false},
      {"?", "漢", true},
      {"a**c", "a/b/c", true},
      {"[a]", "[a]", true},
      {"[a]", "a", false},
      {"A.md", "a.md", false},
      {"*", "", true},
      {"**", "", true},
  };
  for (const auto& [pattern, path, expected] : table) EXPECT_EQ(fits(pattern, path), expected) << pattern << " " << path;
}

TEST(Glob, AgreesWithTheOracle) {
  constexpr std::string_view kPatternParts[] = {"a", "b", "/", "*", "**", "**/", "?", "ab"};
  constexpr std::string_view kPathParts[] = {"a", "b", "/", "ab", "c"};
  std::mt19937 random(7);
  for (int round = 0; round < 100'000; ++round) {
    std::string pattern, path;
    // Every tenth pattern needs more than one word of states.
    if (round % 10 == 0) pattern = path = std::string(58, 'a');
    for (std::size_t i = 1 + random() % 8; i > 0; --i) pattern += kPatternParts[random() % std::size(kPatternParts)];
    for (std::size_t i = random() % 9; i > 0; --i) path += kPathParts[random() % std::size(kPathParts)];
    ASSERT_EQ(fits(pattern, path), Oracle(pattern, path).fits()) << pattern << " " << path;
  }
}

TEST(Glob, ManyStarsDoNotBlowUp) {
  std::string pattern;
  while (pattern.size() + 4 <= kGlobBytesMax) pattern += "**a*";
  EXPECT_FALSE(fits(pattern, std::string(60, 'a')));
  EXPECT_TRUE(fits(pattern, std::string(100'000, 'a')));
  EXPECT_FALSE(fits(pattern.substr(0, pattern.size() - 1) + "c", std::string(100'000, 'a') + "d"));
}

TEST(Glob, BoundsItsPatterns) {
  EXPECT_TRUE(fits(std::string(kGlobBytesMax, 'x'), std::string(kGlobBytesMax, 'x')));
  EXPECT_TRUE(fits(std::string(kGlobBytesMax - 1, 'x') + "/", std::string(kGlobBytesMax - 1, 'x') + "/below"));
  EXPECT_EQ(Glob::compile(std::string(kGlobBytesMax + 1, 'x')).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(Glob::compile("").error().code, ErrorCode::kInvalidArgument);
}

TEST(PathGlobs, OneMustFitAndNoExclusion) {
  const auto globs = PathGlobs::compile({"docs/**", "*.md", "!docs/drafts/", "!**/secret.*"}).value();
  EXPECT_TRUE(globs.matches("docs/a.txt"));
  EXPECT_TRUE(globs.matches("readme.md"));
  EXPECT_FALSE(globs.matches("src/a.txt"));
  EXPECT_FALSE(globs.matches("docs/drafts/a.txt"));
  EXPECT_FALSE(globs.matches("docs/x/secret.txt"));
  const auto all_but = PathGlobs::compile({"!docs/**"}).value();
  EXPECT_TRUE(all_but.matches("a"));
  EXPECT_FALSE(all_but.matches("docs/a"));
  EXPECT_TRUE(PathGlobs().matches("anything"));
  EXPECT_FALSE(PathGlobs::compile({"a", "!"}).has_value());
}

}  // namespace
}  // namespace footnote
