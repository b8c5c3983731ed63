#include "answer/length_limit.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::answer {
namespace {

/// Streams a text in pieces of `piece` bytes.
std::string limited(std::string_view text, std::size_t characters_max, std::size_t piece, bool* full = nullptr) {
  LengthLimit limit(characters_max);
  std::string out;
  for (std::size_t at = 0; at < text.size() && !limit.full(); at += piece) out += limit.take(text.substr(at, piece));
  out += limit.finish();
  if (full != nullptr) *full = limit.full();
  return out;
}

std::string sentences(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += "Sentence number " + std::to_string(i) + " is about lamps [1]. ";
  return out;
}

TEST(LengthLimit, WhatFitsStaysAsItIs) {
  for (const std::string& text : {std::string(), std::string("Short."), sentences(5), std::string("no end of a sentence")}) {
    for (const std::size_t piece : {1u, 7u, 1000u}) {
      bool full = true;
      EXPECT_EQ(limited(text, 300, piece, &full), text);
      EXPECT_FALSE(full);
    }
  }
  const std::string exact(100, 'x');
  EXPECT_EQ(limited(exact, 100, 3), exact);
}

TEST(LengthLimit, WhatIsLongerEndsWithASentenceWithinTheBound) {
  const std::string text = sentences(60);
  for (const std::size_t bound : {100u, 250u, 500u, 1000u}) {
    for (const std::size_t piece : {1u, 5u, 64u}) {
      bool full = false;
      const std::string out = limited(text, bound, piece, &full);
      EXPECT_TRUE(full);
      EXPECT_LE(count_code_points(trim(out)), bound);
      EXPECT_GT(count_code_points(out), bound - 60);
      EXPECT_TRUE(trim(out).ends_with("lamps [1].")) << out;
      EXPECT_TRUE(text.starts_with(out));
    }
  }
}

TEST(LengthLimit, ASentenceWithoutAnEndIsCutBetweenWords) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "word ";
  bool full = false;
  const std::string out = limited(text, 100, 4, &full);
  EXPECT_TRUE(full);
  EXPECT_LE(count_code_points(out), 100u);
  EXPECT_TRUE(out.ends_with("word\u2026")) << out;
}

TEST(LengthLimit, CountsCharactersNotBytesAndCutsNone) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "\u00c4\u00f6\u00fc\u4e2d\U0001f600 satz. ";
  for (const std::size_t piece : {1u, 2u, 3u}) {
    const std::string out = limited(text, 120, piece);
    EXPECT_TRUE(is_valid_utf8(out));
    EXPECT_LE(count_code_points(trim(out)), 120u);
  }
}

TEST(LengthLimit, NothingFollowsTheEnd) {
  LengthLimit limit(100);
  (void)limit.take(sentences(10));
  ASSERT_TRUE(limit.full());
  EXPECT_EQ(limit.take("More. And more. "), "");
  EXPECT_EQ(limit.finish(), "");
}

}  // namespace
}  // namespace footnote::answer
