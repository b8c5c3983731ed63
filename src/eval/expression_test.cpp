#include "eval/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace footnote::eval {
namespace {

using ::testing::HasSubstr;

bool found(std::string_view source, std::string_view text) {
  const auto expression = Expression::parse(source);
  EXPECT_TRUE(expression) << source << ": " << expression.error().message;
  const auto result = expression->found_in(text);
  EXPECT_TRUE(result) << source << ": " << result.error().message;
  return result && *result;
}

Answer answer_of(std::string text, int sources) {
  Answer out;
  out.text = std::move(text);
  for (int number = 1; number <= sources; ++number) out.sources.push_back({.number = number, .hit = {}});
  return out;
}

TEST(Expression, CaseLineBreaksAndMarksDoNotMatter) {
  EXPECT_TRUE(found(R"(281\W+terabyte)", "about 281 TERABYTES"));
  EXPECT_TRUE(found("start at 1", "subscripts\n  start\n at 1"));
  EXPECT_TRUE(found("at most five days", "at most **five** days"));
  EXPECT_TRUE(found("Max Clients 150", "`Max Clients` 150"));
  EXPECT_TRUE(found("see the manual page", "see [the manual](http://a.example/) page"));
  EXPECT_TRUE(found(R"(\*\*/\*\.c)", "ls **/*.c")) << "marks that belong to a command are found as they stand";
  EXPECT_FALSE(found(R"(\b150\b)", "1500"));
}

TEST(Expression, ABadOneSaysWhy) {
  EXPECT_THAT(Expression::parse("(a").error().message, HasSubstr("does not compile"));
  EXPECT_THAT(Expression::parse("a*").error().message, HasSubstr("empty text"));
  EXPECT_TRUE(Expression::parse(std::string(kExpressionBytesMax, 'a')));
  EXPECT_EQ(Expression::parse(std::string(kExpressionBytesMax + 1, 'a')).error().code, ErrorCode::kTooLarge);
}

TEST(Expression, OnlyTheBeginningOfALongTextIsLookedAt) {
  const std::string filler(kMatchedBytesMax - 3, 'x');
  EXPECT_TRUE(found("end", filler + "end"));
  EXPECT_FALSE(found("end", filler + "xend"));
}

TEST(Expression, OneThatNeverEndsIsAnError) {
  const auto expression = Expression::parse("(x+x+)+y");
  ASSERT_TRUE(expression);
  const auto result = expression->found_in(std::string(kMatchedBytesMax, 'x'));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kResourceExhausted);
}

TEST(Expression, WordsAreFoundWhateverStandsBetweenThem) {
  const auto words = Expression::of_words("at €40 a night (plus tax).");
  ASSERT_TRUE(words);
  EXPECT_TRUE(*words->found_in("costs, **at € 40** a night,\nplus tax"));
  EXPECT_FALSE(*words->found_in("at 40 a night"));
  EXPECT_EQ(Expression::of_words(" ... ").error().code, ErrorCode::kInvalidArgument);
}

TEST(ToldText, LeavesOutTheMarkersOfItsSources) {
  EXPECT_EQ(plain_answer(answer_of("Five days [1]. Not more [2][1]", 2)), "Five days. Not more");
  EXPECT_EQ(plain_answer(answer_of("path[1] and [3] and [x]", 2)), "path[1] and [3] and [x]");
  EXPECT_EQ(plain_answer(answer_of("[1] a [", 1)), " a [");
  EXPECT_EQ(plain_answer(answer_of("", 0)), "");
}

}  // namespace
}  // namespace footnote::eval
