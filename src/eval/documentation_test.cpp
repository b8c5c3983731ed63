#include "eval/documentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace footnote::eval {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DocumentationQuestion question_of(std::string id, std::string kind = "fact", Half half = Half::kTune) {
  return {.id = std::move(id),
          .text = "q",
          .kind = std::move(kind),
          .half = half,
          .answer = *Expression::parse("five days"),
          .part = *Expression::parse("some days"),
          .pages = {"leave.md"}};
}

DocumentationQuestion unanswerable_of(std::string id) { return {.id = std::move(id), .text = "q", .kind = "fact", .half = Half::kTune}; }

Answer answer_of(std::string text) {
  Answer out;
  out.text = std::move(text);
  return out;
}

AskedQuestion asked_of(DocumentationQuestion question, Verdict verdict, double confidence) {
  return {.set = "a", .question = std::move(question), .verdict = verdict, .confidence = confidence, .text = {}, .ms = 10};
}

Hit hit_of(std::string text) {
  Hit out;
  out.chunk.text = std::move(text);
  return out;
}

TEST(Verdict, FollowsTheTextOfTheAnswer) {
  const DocumentationQuestion question = question_of("1");
  EXPECT_EQ(*verdict_of(question, answer_of("At most five [1] days.")), Verdict::kRight) << "a marker between the words does not part them";
  EXPECT_EQ(*verdict_of(question, answer_of("At most **Five** days.")), Verdict::kRight);
  EXPECT_EQ(*verdict_of(question, answer_of("some days, five days")), Verdict::kRight) << "right comes before in part";
  EXPECT_EQ(*verdict_of(question, answer_of("Some days.")), Verdict::kInPart);
  EXPECT_EQ(*verdict_of(question, answer_of("Six days.")), Verdict::kWrong);
  EXPECT_EQ(*verdict_of(question, Refusal{.text = "five days"}), Verdict::kRefused);
  EXPECT_EQ(*verdict_of(question, Clarification{"five days"}), Verdict::kRefused);
  EXPECT_EQ(*verdict_of(unanswerable_of("2"), answer_of("five days")), Verdict::kWrong);
  EXPECT_EQ(*verdict_of(unanswerable_of("2"), Refusal{}), Verdict::kRefused);
}

TEST(RankOfAnswer, IsThatOfTheFirstPassageThatHoldsIt) {
  std::vector<Hit> hits{hit_of("six"), hit_of("five\ndays"), hit_of("five days")};
  EXPECT_EQ(*rank_of_answer(question_of("1"), hits), 2U);
  EXPECT_EQ(*rank_of_answer(unanswerable_of("2"), hits), std::nullopt);
  EXPECT_EQ(*rank_of_answer(question_of("1"), {}), std::nullopt);
  hits.assign(kPassagesLookedAt, hit_of("six"));
  hits.push_back(hit_of("five days"));
  EXPECT_EQ(*rank_of_answer(question_of("1"), hits), std::nullopt) << "past the passages that are looked at";
}

TEST(AnswerGroups, OfNothing) {
  const auto groups = groups_of({});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].answerable + groups[0].unanswerable, 0U);
  EXPECT_EQ(groups[0].ece, 0);
  EXPECT_THAT(groups_table(groups), HasSubstr("all"));
  EXPECT_TRUE(documentation_run({}).stages.empty());
}

TEST(AnswerGroups, OfOneQuestion) {
  AskedQuestion one = asked_of(question_of("1"), Verdict::kRight, 0.75);
  one.cited = {"other.md", "leave.md"};
  one.passage_rank = kFirstPassages + 1;
  const auto groups = groups_of({&one, 1});
  ASSERT_EQ(groups.size(), 1U) << "one half, set and kind say nothing more";
  EXPECT_EQ(groups[0].right, 1U);
  EXPECT_EQ(groups[0].right_page, 1U);
  EXPECT_EQ(groups[0].found_10, 0U);
  EXPECT_EQ(groups[0].found_18, 1U);
  EXPECT_DOUBLE_EQ(groups[0].ece, 0.25);
  EXPECT_DOUBLE_EQ(groups[0].ms_median, 10);
}

TEST(AnswerGroups, TellHalvesSetsAndKindsApart) {
  std::vector<AskedQuestion> asked{asked_of(question_of("1"), Verdict::kWrong, kSureFrom),
                                   asked_of(question_of("2", "howto", Half::kKeep), Verdict::kWrong, kSureFrom - 0.01)};
  asked[1].set = "b";
  const auto groups = groups_of(asked);
  ASSERT_EQ(groups.size(), 7U);
  EXPECT_EQ(groups[0].wrong, 2U);
  EXPECT_EQ(groups[0].wrong_and_sure, 1U);
  EXPECT_EQ(groups[1].by + groups[1].name, "halftune");
  EXPECT_EQ(groups[1].wrong_and_sure, 1U);
  EXPECT_EQ(groups[2].by + groups[2].name, "halfkeep");
  EXPECT_EQ(groups[3].by + groups[3].name, "seta");
  EXPECT_EQ(groups[6].by + groups[6].name, "kindhowto");
}

TEST(AnswerGroups, AnsweredOnesWithoutAnAnswerCountInTheConfidence) {
  const std::vector<AskedQuestion> asked{asked_of(unanswerable_of("1"), Verdict::kWrong, 0.9),
                                         asked_of(unanswerable_of("2"), Verdict::kRefused, 0)};
  const auto groups = groups_of(asked);
  EXPECT_EQ(groups[0].answerable, 0U);
  EXPECT_EQ(groups[0].unanswerable, 2U);
  EXPECT_EQ(groups[0].unanswerable_refused, 1U);
  EXPECT_EQ(groups[0].unanswerable_sure, 1U);
  EXPECT_DOUBLE_EQ(groups[0].ece, 0.9) << "a refusal has no confidence";
}

TEST(DocumentationRun, HasAStageForEachSortOfQuestion) {
  const std::vector<AskedQuestion> asked{asked_of(question_of("1"), Verdict::kRight, 1), asked_of(question_of("2"), Verdict::kRefused, 0),
                                         asked_of(unanswerable_of("3"), Verdict::kRefused, 0)};
  const EvalRun run = documentation_run(asked);
  EXPECT_EQ(run.rows, 3U);
  ASSERT_EQ(run.stages.size(), 2U);
  EXPECT_EQ(run.stages[0].stage, "answerable");
  EXPECT_EQ(run.stages[0].figures[0].name, "right");
  EXPECT_DOUBLE_EQ(run.stages[0].figures[0].value, 0.5);
  EXPECT_EQ(run.stages[0].rows[1].id, "2");
  EXPECT_DOUBLE_EQ(run.stages[1].figures[0].value, 1);
}

TEST(AskedJson, HasWhatALaterStudyNeeds) {
  AskedQuestion one = asked_of(question_of("1"), Verdict::kInPart, 0.5);
  one.text = "Some days [1]";
  one.cited = {"leave.md"};
  const std::string line = to_text(asked_json(one));
  EXPECT_THAT(line, HasSubstr(R"("outcome":"in_part")"));
  EXPECT_THAT(line, HasSubstr(R"("answer":"Some days [1]")"));
  EXPECT_THAT(line, HasSubstr(R"("passage_rank":null)"));
  EXPECT_THAT(line, HasSubstr(R"("right_page":true)"));
  EXPECT_THAT(line, HasSubstr(R"("evidence")"));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace footnote::eval
