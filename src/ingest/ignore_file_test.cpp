#include "ingest/ignore_file.h"

#include <gtest/gtest.h>

namespace footnote::ingest {
namespace {

/// "+": ignored; "-": re-included; "": no pattern matches.
std::string verdict(std::string_view patterns, std::string_view path) {
  const auto file = IgnoreFile::parse(patterns);
  if (!file) return file.error().message;
  const bool is_folder = path.ends_with('/');
  const auto out = file->verdict(path.substr(0, path.size() - (is_folder ? 1 : 0)), is_folder);
  return !out ? "" : *out ? "+" : "-";
}

struct Case {
  std::string_view patterns;
  std::string_view path;
  std::string_view expected;
};

/// As `git check-ignore` decides, except that `?` matches one character here and one byte there.
constexpr Case kCases[] = {
    {"a.md", "a.md", "+"},
    {"a.md", "x/y/a.md", "+"},
    {"a.md", "a.mdx", ""},
    {"/a.md", "a.md", "+"},
    {"/a.md", "x/a.md", ""},
    {"x/a.md", "x/a.md", "+"},
    {"x/a.md", "y/x/a.md", ""},
    {"build/", "build/", "+"},
    {"build/", "build", ""},
    {"build/", "x/build/", "+"},
    {"x/build/", "y/x/build/", ""},
    {"*.log", "x/y.log", "+"},
    {"*.log\n!keep.log", "x/keep.log", "-"},
    {"!keep.log\n*.log", "keep.log", "+"},
    {"docs/*.md", "docs/a.md", "+"},
    {"docs/*.md", "docs/x/a.md", ""},
    {"**/foo", "foo", "+"},
    {"**/foo", "a/b/foo", "+"},
    {"**/foo/bar", "x/foo/bar", "+"},
    {"a/**", "a/b/c", "+"},
    {"a/**", "a/", ""},
    {"a/**/b", "a/b", "+"},
    {"a/**/b", "a/x/y/b", "+"},
    {"a/**/b", "x/a/b", ""},
    {"a**b", "axxb", "+"},
    {"a**b", "x/ab", "+"},
    {"x/a**b", "x/a/b", ""},
    {"fo?.md", "foo.md", "+"},
    {"fo?.md", "fo\u00F6.md", "+"},
    {"[a-c].md", "b.md", "+"},
    {"[a-c].md", "d.md", ""},
    {"[!a-c].md", "d.md", "+"},
    {"[^a-c].md", "a.md", ""},
    {"[]x].md", "].md", "+"},
    {"[[:digit:]].md", "7.md", "+"},
    {"[[:digit:]].md", "x.md", ""},
    {"[a", "[a", ""},
    {"x\\", "x\\", ""},
    {"\\*.md", "*.md", "+"},
    {"\\*.md", "a.md", ""},
    {"\\#a", "#a", "+"},
    {"#a", "#a", ""},
    {"\\!a", "!a", "+"},
    {"a.md   ", "a.md", "+"},
    {"a.md\\ ", "a.md ", "+"},
    {"a.md\r\n", "a.md", "+"},
    {"\xEF\xBB\xBF"
     "a.md",
     "a.md", "+"},
    {"\n\n/\n!\n", "a.md", ""},
    {"*", "x/y", "+"},
    {"*\n!*/\n!*.md", "x/", "-"},
    {"*\n!*/\n!*.md", "x/y.md", "-"},
    {"A.MD", "a.md", ""},
};

TEST(IgnoreFileTest, DecidesAsGitDoes) {
  for (const Case& test : kCases) EXPECT_EQ(verdict(test.patterns, test.path), test.expected) << test.patterns << " | " << test.path;
}

TEST(IgnoreFileTest, Bounds) {
  const auto of = [](std::size_t bytes) { return IgnoreFile::parse(std::string(bytes, 'x')); };
  EXPECT_TRUE(of(kGlobBytesMax).has_value());
  EXPECT_EQ(of(kGlobBytesMax + 1).error().code, ErrorCode::kTooLarge);
  std::string many;
  for (std::size_t i = 0; i < kIgnorePatternsMax; ++i) many += "x\n";
  EXPECT_EQ(IgnoreFile::parse(many)->size(), kIgnorePatternsMax);
  EXPECT_EQ(IgnoreFile::parse(many + "x\n").error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace footnote::ingest
