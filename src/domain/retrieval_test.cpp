#include "domain/retrieval.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

const DocumentAttributes kRunbook{.title = "Restart",
                                  .media_type = "text/markdown",
                                  .language = "en",
                                  .canonical_type = "runbook",
                                  .status = DocumentStatus::kAccepted,
                                  .tags = {"ops", "night"}};

bool lets_through(const Filter& filter) { return matches(filter, DocumentId{7}, "ops/restart.md", kRunbook); }

TEST(Filter, AnEmptyOneLetsAllThrough) {
  EXPECT_TRUE(Filter{}.empty());
  EXPECT_TRUE(lets_through({}));
}

TEST(Filter, EachConditionDecidesByItself) {
  const std::pair<Filter, bool> table[] = {
      {{.documents = {{7}}}, true},
      {{.documents = {{8}}}, false},
      {{.keys = {"a.md", "ops/restart.md"}}, true},
      {{.keys = {"ops/"}}, false},
      {{.tags = {"night", "day"}}, true},
      {{.tags = {"day"}}, false},
      {{.media_types = {"text/markdown"}}, true},
      {{.media_types = {"text/html"}}, false},
      {{.languages = {"nl", "en"}}, true},
      {{.languages = {"nl"}}, false},
      {{.canonical_types = {"runbook"}}, true},
      {{.canonical_types = {"decision"}}, false},
      {{.statuses = {DocumentStatus::kAccepted}}, true},
      {{.statuses = {DocumentStatus::kDraft}}, false},
  };
  for (const auto& [filter, expected] : table) {
    EXPECT_FALSE(filter.empty());
    EXPECT_EQ(lets_through(filter), expected);
  }
}

TEST(Filter, EveryFilledConditionMustHold) {
  EXPECT_TRUE(lets_through({.documents = {{7}}, .tags = {"ops"}, .languages = {"en"}}));
  EXPECT_FALSE(lets_through({.documents = {{7}}, .tags = {"ops"}, .languages = {"nl"}}));
}

TEST(Filter, ADocumentWithoutTagsMeetsNoTagCondition) {
  EXPECT_FALSE(matches({.tags = {"ops"}}, DocumentId{1}, "a", DocumentAttributes{}));
}

TEST(Hit, FindsItsStageScores) {
  const Hit hit{.terms = {{Stage::kVector, 0.4, 1.0, 0.55}, {Stage::kKeyword, 7, 0.5, 0.25}}};
  ASSERT_NE(hit.term(Stage::kKeyword), nullptr);
  EXPECT_DOUBLE_EQ(hit.term(Stage::kKeyword)->contribution(), 0.125);
  EXPECT_EQ(hit.term(Stage::kJudge), nullptr);
}

}  // namespace
}  // namespace footnote
