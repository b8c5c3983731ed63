#include "eval/beir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace footnote::eval {
namespace {

using ::testing::HasSubstr;

TEST(Beir, ReadsDocumentsQuestionsAndGrades) {
  const test::TempFolder folder;
  folder.write("corpus.jsonl", "{\"_id\":\"d1\",\"title\":\"T\",\"text\":\"one\"}\n\n{\"_id\":2,\"text\":\"two\",\"metadata\":{}}\n");
  folder.write("queries.jsonl",
               "{\"_id\":\"q1\",\"text\":\"first?\"}\n{\"_id\":\"q2\",\"text\":\"without grades\"}\n{\"_id\":\"q3\",\"text\":\"zero\"}\n");
  folder.write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t2\t0\r\nq3\td1\t0\n");
  const auto set = read_beir(folder.path());
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->documents.size(), 2U);
  EXPECT_EQ(set->documents[0].passage(), "T\none");
  EXPECT_EQ(set->documents[1].id, "2");
  EXPECT_EQ(set->documents[1].passage(), "two");
  ASSERT_EQ(set->questions.size(), 1U);
  EXPECT_EQ(set->questions[0].grades, (Grades{{"d1", 2}, {"2", 0}}));
  EXPECT_EQ(set->corpus_hash.size(), 64U);
}

TEST(Beir, ErrorsNameFileAndLine) {
  const test::TempFolder folder;
  EXPECT_EQ(read_beir(folder.path()).error().code, ErrorCode::kNotFound);
  folder.write("corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"x\"}\n{\"text\":\"no id\"}\n");
  EXPECT_THAT(read_beir(folder.path()).error().message, HasSubstr("corpus.jsonl:2: "));
  folder.write("corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"x\"}\n");
  folder.write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\thigh\n");
  EXPECT_THAT(read_beir(folder.path()).error().message, HasSubstr("test.tsv:2: 'high' is not a score"));
}

}  // namespace
}  // namespace footnote::eval
