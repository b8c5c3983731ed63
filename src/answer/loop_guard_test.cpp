#include "answer/loop_guard.h"

#include <gtest/gtest.h>

#include <string>

namespace footnote::answer {
namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// Fed as a whole, byte by byte and in sevens: the result must not depend on how the text is cut.
bool loops(const std::string& text) {
  LoopGuard whole;
  const bool result = whole.take(text + "\n");
  for (const std::size_t size : {1, 7}) {
    LoopGuard guard;
    for (std::size_t at = 0; at < text.size(); at += size) guard.take(std::string_view(text).substr(at, size));
    guard.take("\n");
    EXPECT_EQ(guard.loops(), result) << size;
  }
  return result;
}

/// Words that are all different.
std::string fresh_words(std::size_t count, std::size_t seed = 0) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += "w" + std::to_string(seed + i) + "x ";
  return out;
}

TEST(LoopGuard, APhraseThatFollowsItselfIsALoop) {
  EXPECT_TRUE(loops(times(27, "The answer is:\n")));
  EXPECT_TRUE(loops(times(20, "The answer is: ")));
  EXPECT_TRUE(loops("Shipping takes three days [1]. " + times(4, "Please contact the support team of the shop. ")));
  EXPECT_TRUE(loops(times(30, "no ")));
  EXPECT_TRUE(loops(times(10, "THE answer\nis: ")));
}

TEST(LoopGuard, ItsBoundIsExact) {
  for (const std::size_t words : {1, 2, 3, 7, 8, 40}) {
    const std::string phrase = fresh_words(words);
    EXPECT_FALSE(loops(times(LoopGuard::times_max(words), phrase))) << words;
    EXPECT_TRUE(loops(times(LoopGuard::times_max(words) + 1, phrase))) << words;
  }
}

TEST(LoopGuard, NumbersOfAListDoNotHideALoop) {
  std::string list;
  for (int i = 1; i < 9; ++i) list += std::to_string(i) + ". The answer is five.\n";
  EXPECT_TRUE(loops(list));
}

TEST(LoopGuard, ARepeatedParagraphIsALoopWhateverItsLength) {
  const std::string paragraph = fresh_words(300);
  EXPECT_FALSE(loops(paragraph + fresh_words(LoopGuard::kStretchRepeatedMin - 1)));
  EXPECT_TRUE(loops(paragraph + paragraph));
}

TEST(LoopGuard, SentencesThatComeBackInAnotherOrderAreALoop) {
  const std::string a = "Returns are free within thirty days of delivery. ";
  const std::string b = "Keep the receipt until the refund has arrived. ";
  const std::string c = "Shipping to islands takes six working days then. ";
  EXPECT_FALSE(loops(a + b + c));
  EXPECT_TRUE(loops(a + b + c + b + a + c + a + b + a + c + b + c + a));
}

TEST(LoopGuard, TextWithoutWordsOrWithoutAnEndIsALoop) {
  EXPECT_TRUE(loops(std::string(LoopGuard::kWordlessBytesMax + 1, '.')));
  EXPECT_FALSE(loops(std::string(LoopGuard::kWordlessBytesMax - 1, '\n')));
  EXPECT_TRUE(loops(std::string(LoopGuard::kWordBytesMax + 1, 'a')));
  EXPECT_FALSE(loops(std::string(LoopGuard::kWordBytesMax, 'a')));
  EXPECT_TRUE(loops(times(700, "\xFF\x80"))) << "bytes that are no text";
}

TEST(LoopGuard, ScriptsWithoutSpacesAndEmojiLoopToo) {
  EXPECT_TRUE(loops(times(8, "运费为五欧元")));
  EXPECT_TRUE(loops(times(30, "\xF0\x9F\x98\x80")));
  EXPECT_TRUE(loops(times(6, "Доставка занимает три дня. ")));
  EXPECT_FALSE(loops("运费为五欧元。退货免费，期限为三十天。周日不发货。"));
}

TEST(LoopGuard, OrdinaryAnswersAreNone) {
  EXPECT_FALSE(loops("Shipping takes three days [1]. Shipping to islands takes six days [2]. Shipping is free above 50 euros [1][2]."));
  EXPECT_FALSE(
      loops("- `name`: a string. This field is required.\n- `age`: a number. This field is required.\n"
            "- `city`: a string. This field is required.\n- `mail`: an address. This field is required.\n"
            "- `phone`: a number. This field is required.\n- `zip`: a code. This field is required.\n"));
  EXPECT_FALSE(loops("Monday 9 to 17, Tuesday 9 to 17, Wednesday 9 to 17, Thursday 9 to 17, Friday 9 to 17."));
  EXPECT_FALSE(loops("1. Open the settings.\n2. Choose the printer.\n3. Press start.\n4. Choose the printer.\n5. Press start."));
}

TEST(LoopGuard, CodeAndTablesMayRepeat) {
  EXPECT_FALSE(loops("```\n" + times(30, "0, ") + "\n```\nThat is all."));
  EXPECT_FALSE(loops("| a | b |\n" + times(6, "| yes | no |\n")));
  EXPECT_TRUE(loops("```\n" + times(60, "0, "))) << "but not without end";
  EXPECT_TRUE(loops(times(40, "| yes | no |\n")));
}

TEST(LoopGuard, StaysFalseOnALongTextAndIsBounded) {
  LoopGuard guard;
  for (std::size_t i = 0; i < LoopGuard::kGroupsMax + 5'000; ++i) guard.take("w" + std::to_string(i) + "x ");
  EXPECT_FALSE(guard.loops());
  EXPECT_TRUE(guard.take(fresh_words(LoopGuard::kStretchWords + 4)));
}

}  // namespace
}  // namespace footnote::answer
