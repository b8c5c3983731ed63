#include "eval/documentation_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eval/set.h"
#include "support/temp_folder.h"

namespace footnote::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kTune = R"({"id":"a-1","question":"q","kind":"fact","answer":"x","part":"y","pages":["p.html"],"half":"tune"})"
                                   "\n";
constexpr std::string_view kKeep = R"({"id":"a-2","question":"r","kind":"howto","unanswerable":true,"why":"w","half":"keep"})"
                                   "\n";

class DocumentationSetTest : public ::testing::Test {
 protected:
  Result<std::vector<DocumentationSet>> read(const DocumentationChoice& choice = {}) { return read_documentation(folder_.path(), choice); }
  std::string problem_of(std::string_view line) {
    folder_.write("questions/a.jsonl", std::string(kTune) + std::string(line) + "\n");
    const auto sets = read();
    return sets ? "" : sets.error().message;
  }
  test::TempFolder folder_;
};

TEST_F(DocumentationSetTest, AFolderHoldsOneSetAFile) {
  folder_.write("questions/b.jsonl", R"({"id":"b-1","question":"s","kind":"fact","answer":"z","pages":["d/e.md"]})");
  folder_.write("questions/a.jsonl", std::string(kTune) + std::string(kKeep));
  folder_.write("questions/notes.txt", "not a set");
  EXPECT_EQ(*kind_of(folder_.path()), EvalKind::kDocumentation);
  const auto sets = read({.documents = "docs"});
  ASSERT_TRUE(sets) << sets.error().message;
  ASSERT_EQ(sets->size(), 2U);
  EXPECT_EQ((*sets)[0].name, "a");
  EXPECT_EQ((*sets)[0].documents, "docs/a");
  const DocumentationQuestion& first = (*sets)[0].questions.at(0);
  EXPECT_EQ(first.id, "a-1");
  EXPECT_EQ(first.half, Half::kTune);
  EXPECT_EQ(first.answer->source(), "x");
  EXPECT_EQ(first.part->source(), "y");
  EXPECT_THAT(first.pages, ElementsAre("p.html"));
  EXPECT_FALSE((*sets)[0].questions.at(1).answerable());
  EXPECT_EQ((*sets)[1].questions.at(0).half, Half::kNone);
}

TEST_F(DocumentationSetTest, HalfNameAndLimitChoose) {
  folder_.write("questions/a.jsonl", std::string(kTune) + std::string(kKeep));
  folder_.write("questions/b.jsonl", R"({"id":"b-1","question":"s","kind":"fact","answer":"z","pages":["p"],"half":"keep"})");
  EXPECT_EQ((*read({.half = Half::kTune})).size(), 1U) << "a set of which nothing is left is left out";
  EXPECT_EQ((*read({.names = {"b"}}))[0].name, "b");
  EXPECT_EQ((*read({.limit = 2})).size(), 1U);
  const auto three = read({.limit = 3});
  ASSERT_EQ(three->size(), 2U);
  EXPECT_THAT(read({.names = {"c"}}).error().message, HasSubstr("no set 'c'; there are a, b"));
  EXPECT_EQ(read({.names = {"b"}, .half = Half::kTune}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DocumentationSetTest, NoQuestionIsAnError) {
  folder_.write("questions/a.jsonl", "\n");
  EXPECT_THAT(read().error().message, HasSubstr("no question to ask"));
}

TEST_F(DocumentationSetTest, ABadLineIsNamed) {
  const std::pair<const char*, const char*> lines[] = {
      {"{", "a.jsonl:2"},
      {R"({"id":"n","question":"q","kind":"fact","answer":"(","pages":["p"]})", "a.jsonl:2: the expression does not compile"},
      {R"({"id":"n","question":"q","kind":"fact","answer":"x?","pages":["p"]})", "empty text"},
      {R"({"id":"n","question":"q","kind":"fact","answer":"x","part":"[","pages":["p"]})", "does not compile"},
      {R"({"id":"n","question":"q","kind":"fact","answer":"x","pages":[]})", "no page is named"},
      {R"({"id":"n","question":"q","kind":"fact","answer":"x","pages":["p"],"half":"third"})", "'third' is neither tune nor keep"},
      {R"({"id":"n","question":"q","kind":"fact","pages":["p"]})", "answer"},
      {R"({"id":"n","question":"q","kind":"fact","unanswerable":true,"answer":"x"})", "answer"},
      {R"({"id":"n","question":"q","answer":"x","pages":["p"]})", "kind"},
      {R"({"id":"n","kind":"fact","answer":"x","pages":["p"]})", "question"},
      {R"({"question":"q","kind":"fact","answer":"x","pages":["p"]})", "id"},
      {R"({"id":"a-1","question":"q","kind":"fact","answer":"x","pages":["p"]})", "id 'a-1' is used twice"},
      {R"({"id":"n","question":"q","expect":"maybe"})", "'maybe' is neither answer nor refuse"},
      {R"({"id":"n","question":"q","expect":"answer","path":"p","quote":"..."})", "without words"},
  };
  for (const auto& [line, why] : lines) {
    EXPECT_THAT(problem_of(line), HasSubstr("a.jsonl:2")) << line;
    EXPECT_THAT(problem_of(line), HasSubstr(why)) << line;
  }
}

TEST_F(DocumentationSetTest, AFileOfTheHandbooksFormIsASetOfItsOwn) {
  folder_.write("handbook/questions.jsonl", R"({"id":"h1","question":"q","expect":"answer","path":"a.md","quote":"Five *days*."})"
                                            "\n"
                                            R"({"id":"h2","question":"r","expect":"refuse","kind":"near"})");
  const auto path = folder_.path() / "handbook/questions.jsonl";
  EXPECT_EQ(*kind_of(path), EvalKind::kDocumentation);
  const auto sets = read_documentation(path, {.documents = "docs"});
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ((*sets)[0].name, "handbook");
  EXPECT_EQ((*sets)[0].documents, "docs");
  EXPECT_EQ((*sets)[0].questions[0].kind, "covered");
  EXPECT_TRUE(*(*sets)[0].questions[0].answer->found_in("five days"));
  EXPECT_EQ((*sets)[0].questions[1].kind, "near");
  EXPECT_FALSE((*sets)[0].questions[1].answerable());
}

}  // namespace
}  // namespace footnote::eval
