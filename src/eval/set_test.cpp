#include "eval/set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace footnote::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EvalSetTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) {
    folder_.write("set.jsonl", text);
    return folder_.path() / "set.jsonl";
  }
  test::TempFolder folder_;
};

TEST_F(EvalSetTest, TheFormSaysWhatIsMeasured) {
  EXPECT_EQ(*kind_of(folder_.path()), EvalKind::kRetrieval);
  EXPECT_EQ(*kind_of(file(R"({"claim":"c","evidence":"e","label":"supported"})")), EvalKind::kGrounding);
  EXPECT_EQ(*kind_of(file(R"({"question":"q","context":"c","answers":[]})")), EvalKind::kReading);
  EXPECT_EQ(*kind_of(file(R"({"question":"q","documents":["a.md"]})")), EvalKind::kQuestions);
  EXPECT_EQ(kind_of(file(R"({"text":"x"})")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(kind_of(file("")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(kind_of(folder_.path() / "none").error().code, ErrorCode::kNotFound);
}

TEST_F(EvalSetTest, ReadingRowsTakeSquadsAnswers) {
  const auto rows = read_reading_rows(
      file("{\"id\":7,\"question\":\"q\",\"context\":\"c\",\"answers\":[{\"text\":\"a\"},{\"text\":\"a\"},{\"text\":\"b\"}]}\n"
           "{\"question\":\"q2\",\"context\":\"c2\",\"answers\":[]}\n"));
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)[0].id, "7");
  EXPECT_THAT((*rows)[0].answers, ElementsAre("a", "b"));
  EXPECT_EQ((*rows)[1].id, "2");
  EXPECT_TRUE((*rows)[1].answers.empty());
}

TEST_F(EvalSetTest, GroundingRowsTakeEvidenceInBothForms) {
  const auto rows =
      read_grounding_rows(file("{\"claim\":\"c\",\"evidence_sentences\":[\"one.\",\"two.\"],\"label\":\"SUPPORTS\"}\n"
                               "{\"claim\":\"c\",\"evidence_sentences\":[],\"label\":\"NOT_ENOUGH_INFO\"}\n"
                               "{\"claim\":\"c\",\"evidence\":\"x\",\"label\":\"partially_supported\"}\n"));
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U) << "without evidence there is nothing to check";
  EXPECT_EQ((*rows)[0].evidence, "one.\n\ntwo.");
  EXPECT_EQ((*rows)[0].label, Grounding::kSupported);
  EXPECT_EQ((*rows)[1].label, Grounding::kPartly);
  EXPECT_THAT(read_grounding_rows(file(R"({"claim":"c","evidence":"x","label":"maybe"})")).error().message, HasSubstr("set.jsonl:1"));
}

TEST_F(EvalSetTest, OwnQuestionsNameTheirDocuments) {
  const auto rows =
      read_questions(file("{\"question\":\"q\",\"documents\":[\"a.md\"],\"answers\":[\"three days\"]}\n"
                          "{\"question\":\"p\",\"documents\":{\"a.md\":2,\"b.md\":0}}\n"
                          "{\"question\":\"r\",\"answerable\":false}\n"));
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)[0].documents, (Grades{{"a.md", 1}}));
  EXPECT_EQ((*rows)[1].documents, (Grades{{"a.md", 2}, {"b.md", 0}}));
  EXPECT_FALSE((*rows)[2].answerable);
  EXPECT_THAT(read_questions(file(R"({"question":"q","documents":{"a":"x"}})")).error().message, HasSubstr("not an integer"));
}

TEST_F(EvalSetTest, ForeignQuestionsComeInAnyForm) {
  EXPECT_THAT(*read_question_texts(file("{\"_id\":\"1\",\"text\":\"a?\"}\n{\"question\":\"b?\"}\n")), ElementsAre("a?", "b?"));
  folder_.write("queries.jsonl", "{\"_id\":\"1\",\"text\":\"c?\"}\n");
  EXPECT_THAT(*read_question_texts(folder_.path()), ElementsAre("c?"));
}

}  // namespace
}  // namespace footnote::eval
