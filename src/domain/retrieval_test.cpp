#include "domain/retrieval.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

const DocumentAttributes kRunbook{.title = "Restart",
                                  .media_type = "text/markdown",
                                  .language = "en",
                                  .canonical_type = "runbook",
                                  .status = DocumentStatus::kAccepted,
                                  .evidence = EvidenceTier::kOfficial,
                                  .tags = {"ops", "night"}};
const UtcTime kIndexed{std::chrono::hours{24 * 100}};

bool lets_through(const Filter& filter) { return matches(filter, {DocumentId{7}, "ops/restart.md", "doc", kRunbook, kIndexed}); }

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
      {{.source_types = {"code", "doc"}}, true},
      {{.source_types = {"code"}}, false},
      {{.path_globs = {"docs/**", "ops/*.md"}}, true},
      {{.path_globs = {"ops/*.md", "!**/restart.*"}}, false},
      {{.path_globs = {"!drafts/**"}}, true},
      {{.evidence_tiers = {EvidenceTier::kGuideline, EvidenceTier::kOfficial}}, true},
      {{.evidence_tiers = {EvidenceTier::kBlog}}, false},
      {{.updated_from = kIndexed}, true},
      {{.updated_from = kIndexed + std::chrono::milliseconds{1}}, false},
      {{.updated_until = kIndexed}, false},
      {{.updated_until = kIndexed + std::chrono::milliseconds{1}}, true},
      {{.acl_labels = {"hr"}}, false},
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
  EXPECT_FALSE(matches({.tags = {"ops"}}, {DocumentId{1}, "a", "doc", DocumentAttributes{}, {}}));
}

TEST(Filter, APatternThatCantBeReadLetsNothingThrough) {
  EXPECT_FALSE(lets_through({.path_globs = {""}}));
  EXPECT_FALSE(lets_through({.path_globs = {std::string(kGlobBytesMax + 1, '*')}}));
}

TEST(Filter, ADocumentNotAssessedMeetsNoTier) {
  EXPECT_FALSE(matches({.evidence_tiers = {EvidenceTier::kUnverified}}, {DocumentId{1}, "a", "doc", DocumentAttributes{}, {}}));
}

TEST(Filter, TheDocumentsOwnDateCountsBeforeThatOfItsIndexing) {
  const DocumentAttributes old{.updated_at = kIndexed - std::chrono::hours{24}};
  const FilterSubject subject{DocumentId{1}, "a", "doc", old, kIndexed};
  EXPECT_FALSE(matches({.updated_from = kIndexed}, subject));
  EXPECT_TRUE(matches({.updated_until = kIndexed}, subject));
}

TEST(Filter, LabelledDocumentsAreFoundOnlyByCallersWithOneOfTheirLabels) {
  const DocumentAttributes secret{.acl_labels = {"hr", "board"}};
  const FilterSubject subject{DocumentId{1}, "a", "doc", secret, kIndexed};
  EXPECT_FALSE(matches({}, subject));
  EXPECT_FALSE(matches({.caller_labels = {"sales"}}, subject));
  EXPECT_TRUE(matches({.caller_labels = {"sales", "board"}}, subject));
  EXPECT_FALSE(matches({.acl_labels = {"hr"}}, subject)) << "filtering by a label does not grant it";
  EXPECT_TRUE(matches({.acl_labels = {"hr"}, .caller_labels = {"board"}}, subject));
  EXPECT_FALSE(matches({.acl_labels = {"sales"}, .caller_labels = {"board"}}, subject));
  EXPECT_TRUE((Filter{.caller_labels = {"hr"}}.empty())) << "the caller's labels are not a condition";
}

TEST(Filter, ManyDocumentsAndKeysAreLookedUpNotSearched) {
  Filter filter;
  for (std::int64_t i = 20'000; i > 0; i -= 2) filter.documents.push_back({i});
  for (int i = 20'000; i > 0; i -= 2) filter.keys.push_back("k" + std::to_string(i));
  const DocumentFilter passes(filter);
  const DocumentAttributes plain;
  std::size_t let_through = 0;
  for (std::int64_t i = 1; i <= 20'000; ++i) let_through += passes({{i}, "k" + std::to_string(i), "doc", plain, {}});
  EXPECT_EQ(let_through, 10'000U);
}

TEST(Filter, TheSameDocumentsWhateverItSaysOfChunks) {
  const Filter a{.tags = {"x"}, .chunks = std::make_shared<const std::vector<ChunkId>>()};
  EXPECT_TRUE(same_documents(a, {.tags = {"x"}}));
  EXPECT_FALSE(same_documents(a, {.tags = {"y"}}));
  EXPECT_FALSE(same_documents(a, {.tags = {"x"}, .caller_labels = {"hr"}}));
}

TEST(Hit, FindsItsStageScores) {
  const Hit hit{.terms = {{Stage::kVector, 0.4, 1.0, 0.55}, {Stage::kKeyword, 7, 0.5, 0.25}}};
  ASSERT_NE(hit.term(Stage::kKeyword), nullptr);
  EXPECT_DOUBLE_EQ(hit.term(Stage::kKeyword)->contribution(), 0.125);
  EXPECT_EQ(hit.term(Stage::kJudge), nullptr);
}

}  // namespace
}  // namespace footnote
