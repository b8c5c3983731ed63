#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "base/log.h"
#include "contracts/keyword_index_contract.h"
#include "contracts/vector_store_contract.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"

namespace footnote {
namespace {

INSTANTIATE_TEST_SUITE_P(Local, VectorStoreContract,
                         ::testing::Values(VectorStoreCase{"local", [] { return std::make_unique<LocalVectorStore>(); }}),
                         vector_store_case_name);
INSTANTIATE_TEST_SUITE_P(Local, KeywordIndexContract,
                         ::testing::Values(KeywordIndexCase{"local", [] { return std::make_unique<LocalKeywordIndex>(); }}),
                         keyword_index_case_name);

constexpr CorpusId kCorpus{1};

IndexRow text_row(std::int64_t chunk, Generation born, std::string language, std::string text) {
  IndexRow row;
  row.chunk = {chunk};
  row.document = {chunk};
  row.born = born;
  row.document_key = fmt::format("d{}", chunk);
  row.attributes.language = std::move(language);
  row.text = std::move(text);
  row.vectors = {{1, 0, 0}};
  return row;
}

template <class Index>
ErrorCode apply_error(Index& index, const IndexChanges& changes) {
  const auto done = index.apply(CallContext{}, kCorpus, changes);
  EXPECT_FALSE(done.has_value());
  return done ? ErrorCode::kInternal : done.error().code;
}

TEST(LocalIndexes, RefuseStepsThatMakeNoSense) {
  LocalVectorStore vectors;
  LocalKeywordIndex words;
  const IndexChanges first{0, 2, {text_row(1, 1, "", "a")}, {}};
  ASSERT_TRUE(vectors.apply({}, kCorpus, first) && words.apply({}, kCorpus, first));
  const IndexChanges wrong[] = {
      {2, 1, {}, {}},                                                  // backwards
      {2, 3, {text_row(2, 2, "", "b")}, {}},                           // born before the step
      {2, 3, {text_row(2, 4, "", "b")}, {}},                           // born after it
      {2, 3, {}, {{{1}, 2}}},                                          // died before it
      {2, 3, {text_row(1, 3, "", "b")}, {}},                           // still alive
      {2, 3, {text_row(2, 3, "", "b"), text_row(2, 3, "", "b")}, {}},  // twice
  };
  for (const IndexChanges& changes : wrong) {
    EXPECT_EQ(apply_error(vectors, changes), ErrorCode::kInvalidArgument);
    EXPECT_EQ(apply_error(words, changes), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(vectors.generation({}, kCorpus).value(), 2);
  const IndexChanges nothing{2, 2, {}, {}};
  EXPECT_TRUE(vectors.apply({}, kCorpus, nothing) && words.apply({}, kCorpus, nothing));
}

TEST(LocalVectorStore, AVectorWithoutDirectionDoesNotStopTheRest) {
  LocalVectorStore vectors;
  IndexRow bad = text_row(1, 1, "", "");
  bad.vectors = {{0, 0, 0}, {std::numeric_limits<float>::quiet_NaN(), 1, 0}};
  set_log_level(LogLevel::kOff);
  ASSERT_TRUE(vectors.apply({}, kCorpus, {0, 1, {bad, text_row(2, 1, "", "")}, {}}).has_value());
  set_log_level(LogLevel::kInfo);
  const float asked[] = {1, 1, 0};
  const auto hits = vectors.search({}, {kCorpus, 1, asked, 10, nullptr}).value();
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].chunk.value, 2);
  const float none[] = {0, 0, 0};
  EXPECT_EQ(vectors.search({}, {kCorpus, 1, none, 10, nullptr}).error().code, ErrorCode::kInvalidArgument);
}

/// Levels round differently, so equal bits show which arithmetic was used.
TEST(LocalVectorStore, ScansAtTheLevelThatItIsGiven) {
  constexpr std::size_t kNumbers = 384;
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(kNumbers)));
  const auto unit_vector = [&] {
    std::vector<float> out(kNumbers);
    for (float& value : out) value = normal(random);
    const double length = std::sqrt(std::inner_product(out.begin(), out.end(), out.begin(), 0.0));
    for (float& value : out) value = static_cast<float>(value / length);
    return out;
  };
  IndexChanges changes{0, 1, {}, {}};
  std::vector<ChunkId> chunks;
  for (std::int64_t chunk = 1; chunk <= 50; ++chunk) {
    changes.added.push_back(text_row(chunk, 1, "", ""));
    changes.added.back().vectors = {unit_vector()};
    chunks.push_back({chunk});
  }
  const std::vector<float> asked = unit_vector();
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    LocalVectorStore vectors(level);
    ASSERT_TRUE(vectors.apply({}, kCorpus, changes).has_value());
    const auto scores = vectors.score({}, {kCorpus, 1, asked, 10, nullptr}, chunks).value();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      float expected = 0;
      ann::kernels_of(level).dot(asked.data(), changes.added[i].vectors[0].data(), kNumbers, 1, &expected);
      EXPECT_EQ(scores[i], static_cast<double>(expected)) << cpu::to_string(level) << " row " << i;
    }
  }
}

TEST(LocalKeywordIndex, AsksInEveryLanguageThatTheCorpusHas) {
  LocalKeywordIndex words;
  ASSERT_TRUE(words.apply({}, kCorpus, {0, 1, {text_row(1, 1, "de", "Die alten Häuser der Städte")}, {}}).has_value());
  ASSERT_TRUE(words.apply({}, kCorpus, {1, 2, {text_row(2, 2, "en", "The houses of the cities")}, {}}).has_value());
  const auto first = [&](std::string_view text, Generation g) {
    const auto hits = words.search({}, {kCorpus, g, text, 10, nullptr}).value();
    return hits.empty() ? 0 : hits[0].chunk.value;
  };
  EXPECT_EQ(first("Haus", 2), 1);
  EXPECT_EQ(first("city", 2), 2);
  EXPECT_EQ(first("Stadt", 1), 1);
  const ChunkId chunks[] = {{1}, {2}};
  EXPECT_EQ(words.coverage({}, {kCorpus, 2, "Stadt und Haus", 10, nullptr}, chunks).value()[1], 0.0);
  EXPECT_EQ(words.coverage({}, {kCorpus, 2, "the house of cities", 10, nullptr}, chunks).value()[1], 1.0);
}

TEST(LocalKeywordIndex, ABulkOfStepsIsNotQuadratic) {
  // A sanity bound, not a benchmark: 20,000 rows in 2,000 steps.
  LocalKeywordIndex words;
  LocalVectorStore vectors;
  std::int64_t chunk = 1;
  for (Generation g = 1; g <= 2000; ++g) {
    IndexChanges changes{g - 1, g, {}, {}};
    for (int i = 0; i < 10; ++i) changes.added.push_back(text_row(chunk++, g, "en", "alpha beta gamma"));
    ASSERT_TRUE(words.apply({}, kCorpus, changes) && vectors.apply({}, kCorpus, changes));
  }
  EXPECT_EQ(words.search({}, {kCorpus, 2000, "alpha", 100'000, nullptr}).value().size(), 20'000U);
}

TEST(DocumentTable, ReusesSlotsOnlyForNewTables) {
  DocumentTableWriter writer;
  std::vector<std::uint32_t> slots;
  for (std::int64_t i = 0; i < 1200; ++i) slots.push_back(writer.slot_for(text_row(i + 1, 1, "en", "")));
  EXPECT_EQ(writer.slot_for(text_row(5, 1, "en", "")), slots[4]) << "the same facets";
  EXPECT_NE(writer.slot_for(text_row(5, 1, "de", "")), slots[4]) << "other facets";
  const DocumentTable before = writer.publish();
  rows::GroupMask used(writer.slot_count(), 1);
  used[slots[7]] = 0;
  writer.keep_only(used);
  EXPECT_EQ(writer.slot_for(text_row(9000, 2, "fr", "")), slots[7]) << "an empty slot is reused";
  const DocumentTable after = writer.publish();
  const Filter french{.languages = {"fr"}};
  const Filter eighth{.documents = {{8}}};
  EXPECT_EQ((*before.matching(french))[slots[7]], 0);
  EXPECT_EQ((*after.matching(french))[slots[7]], 1);
  EXPECT_EQ((*before.matching(eighth))[slots[7]], 1);
  EXPECT_EQ((*after.matching(eighth))[slots[7]], 0);
}

TEST(DocumentTable, AnEmptyFilterNeedsNoMaskWhileNothingIsLabelled) {
  DocumentTableWriter writer;
  writer.slot_for(text_row(1, 1, "en", ""));
  EXPECT_EQ(writer.publish().matching({}), nullptr);
  IndexRow secret = text_row(2, 1, "en", "");
  secret.attributes.acl_labels = {"hr"};
  const std::uint32_t slot = writer.slot_for(secret);
  const DocumentTable table = writer.publish();
  ASSERT_NE(table.matching({}), nullptr);
  EXPECT_EQ((*table.matching({}))[slot], 0);
  EXPECT_EQ((*table.matching({.caller_labels = {"hr"}}))[slot], 1);
  rows::GroupMask used(writer.slot_count(), 1);
  used[slot] = 0;
  writer.keep_only(used);
  EXPECT_EQ(writer.publish().matching({}), nullptr) << "the last labelled document is gone";
}

TEST(DocumentTable, EachSourceTypeOfADocumentHasItsSlot) {
  DocumentTableWriter writer;
  IndexRow prose = text_row(1, 1, "en", "");
  IndexRow code = prose;
  prose.source_type = "doc";
  code.source_type = "code";
  const std::uint32_t slots[] = {writer.slot_for(prose), writer.slot_for(code)};
  EXPECT_NE(slots[0], slots[1]);
  EXPECT_EQ(writer.slot_for(prose), slots[0]);
  EXPECT_EQ(writer.slot_for(code), slots[1]);
  EXPECT_EQ(*writer.publish().matching({.source_types = {"code"}}), (rows::GroupMask{0, 1}));
}

/// The expected mask, computed one document at a time.
rows::GroupMask mask_by_hand(const DocumentTable& table, const Filter& filter) {
  rows::GroupMask mask;
  for (std::size_t slot = 0; slot < table.slot_count(); ++slot) {
    const DocumentFacets* facets = table.facets(slot);
    mask.push_back(facets != nullptr && matches(filter, facets->subject()));
  }
  return mask;
}

TEST(DocumentTable, KeptMasksAreThoseOfTheTable) {
  std::mt19937 random(5);
  DocumentTableWriter writer;
  std::vector<Filter> filters;
  for (std::size_t i = 0; i < kMasksKept + 3; ++i)
    filters.push_back({.languages = {i % 2 == 0 ? "en" : "de"}, .path_globs = {fmt::format("*{}", i)}});
  std::vector<DocumentTable> tables;
  std::int64_t next = 1;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 100; ++i) writer.slot_for(text_row(next++, 1, random() % 2 == 0 ? "en" : "de", ""));
    if (step % 5 == 4) {
      rows::GroupMask used(writer.slot_count());
      for (auto& byte : used) byte = random() % 8 != 0;
      writer.keep_only(used);
    }
    tables.push_back(writer.publish());
    // Readers of older and newer tables alternate.
    const DocumentTable& table = tables[tables.size() - 1 - random() % std::min<std::size_t>(tables.size(), 3)];
    const Filter& filter = filters[random() % filters.size()];
    ASSERT_EQ(*table.matching(filter), mask_by_hand(table, filter));
    EXPECT_EQ(table.matching(filter), table.matching(filter)) << "the cached mask, not a copy";
  }
}

TEST(DocumentTable, ReadersShareTheKeptMasks) {
  DocumentTableWriter writer;
  for (std::int64_t i = 1; i <= 2000; ++i) writer.slot_for(text_row(i, 1, i % 3 == 0 ? "de" : "en", ""));
  const DocumentTable table = writer.publish();
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = 0; i < 200; ++i) {
        const Filter filter{.languages = {"de"}, .path_globs = {fmt::format("*{}", (i + reader) % 20)}};
        EXPECT_EQ(*table.matching(filter), mask_by_hand(table, filter));
      }
    });
  }
}

}  // namespace
}  // namespace footnote
