#include "providers/local/judge_excerpt.h"

#include <gmock/gmock.h>

#include "base/utf8.h"
#include "engine/bm25/analyzer.h"

namespace footnote {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

JudgeExcerpt excerpt(std::string_view question, std::string_view passage, std::size_t bytes_max) {
  return judge_excerpt(bm25::Analyzer().content_terms(question), passage, bytes_max);
}

const std::string kPassage =
    "Handbook > Leave\n"
    "Everybody at the company has the right to rest. Requests go to the team lead in writing. "
    "Unused days can be carried over until the end of March. Sick leave is another matter and is described elsewhere.";

TEST(JudgeExcerpt, AShortPassageIsReadWhole) {
  const JudgeExcerpt whole = excerpt("carry over days", kPassage, kPassage.size());
  EXPECT_EQ(whole.text, kPassage);
  EXPECT_EQ(whole.in_passage({3, 9}), (TextRange{3, 9}));
}

TEST(JudgeExcerpt, ALongOneByItsHeadingAndTheSentencesWithTheQuestionsWords) {
  const JudgeExcerpt part = excerpt("Until when can unused days be carried over?", kPassage, 80);
  EXPECT_THAT(part.text, StartsWith("Handbook > Leave\n"));
  EXPECT_THAT(part.text, HasSubstr("Unused days can be carried over until the end of March."));
  EXPECT_THAT(part.text, Not(HasSubstr("Everybody")));
  EXPECT_LE(part.text.size(), 80U);
}

TEST(JudgeExcerpt, WithoutAnyOfTheWordsItsBeginning) {
  EXPECT_THAT(excerpt("penguins?", kPassage, 80).text, StartsWith("Handbook > Leave\nEverybody at the company"));
  EXPECT_THAT(excerpt("", kPassage, 80).text, StartsWith("Handbook > Leave\nEverybody at the company"));
}

TEST(JudgeExcerpt, RangesAreThoseOfThePassage) {
  const JudgeExcerpt part = excerpt("Until when can unused days be carried over?", kPassage, 80);
  const std::size_t at = part.text.find("March");
  const TextRange range = part.in_passage({at, at + 5});
  EXPECT_EQ(kPassage.substr(range.begin, range.size()), "March");
  EXPECT_EQ(part.in_passage({0, 8}), (TextRange{0, 8})) << "in the heading";
  EXPECT_FALSE(part.spans_head({0, part.head}));
  EXPECT_TRUE(part.spans_head({part.head - 1, part.head + 1}));
  EXPECT_FALSE(part.spans_head({part.head, part.head + 1}));
}

TEST(JudgeExcerpt, AFirstLineAtTheLimitIsKeptAndALongerOneIsNot) {
  const std::string rest = "\n" + std::string(300, 'x') + ". The lamp weighs ninety grams.";
  const std::string at_limit(kExcerptHeadBytesMax - 1, 'h');
  EXPECT_THAT(excerpt("lamp weight grams", at_limit + rest, 250).text, StartsWith(at_limit + "\n"));
  EXPECT_EQ(excerpt("lamp weight grams", at_limit + "h" + rest, 250).head, 0U);
}

TEST(JudgeExcerpt, EndsBetweenWordsAndNeverInsideACharacter) {
  EXPECT_THAT(excerpt("rest", "a " + std::string(100, 'b') + " c", 60).text, EndsWith("a"));
  std::string umlauts;
  for (int i = 0; i < 60; ++i) umlauts += "ä";
  for (std::size_t bytes = 20; bytes < 30; ++bytes) {
    const JudgeExcerpt part = excerpt("rest", umlauts, bytes);
    EXPECT_TRUE(is_valid_utf8(part.text)) << bytes;
    EXPECT_LE(part.text.size(), bytes);
  }
}

TEST(JudgeExcerpt, ManyWordsOfAQuestionAreNoTrouble) {
  std::string question;
  for (int i = 0; i < 200; ++i) question += "word" + std::to_string(i) + " ";
  EXPECT_LE(excerpt(question, kPassage, 80).text.size(), 80U);
}

}  // namespace
}  // namespace footnote
