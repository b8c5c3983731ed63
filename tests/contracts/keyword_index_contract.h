#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/keyword_index.h"

/// What every KeywordIndex must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Local, KeywordIndexContract, ::testing::Values(KeywordIndexCase{"local", make}), keyword_index_case_name);
/// Does not check absolute scores: engines differ in constants.
namespace footnote {

struct KeywordIndexCase {
  std::string name;
  std::function<std::unique_ptr<KeywordIndex>()> make;
};

inline std::string keyword_index_case_name(const ::testing::TestParamInfo<KeywordIndexCase>& info) { return info.param.name; }

class KeywordIndexContract : public ::testing::TestWithParam<KeywordIndexCase> {
 protected:
  static constexpr CorpusId kCorpus{7};
  using Chunks = std::vector<std::int64_t>;

  static IndexRow row(std::int64_t chunk, Generation born, std::string text, std::int64_t document = 1) {
    IndexRow out;
    out.chunk = {chunk};
    out.document = {document};
    out.born = born;
    out.document_key = "doc-" + std::to_string(document);
    out.attributes.tags = {document % 2 == 0 ? "even" : "odd"};
    out.text = std::move(text);
    return out;
  }

  void apply(IndexChanges changes) {
    const auto done = index_->apply(call_, kCorpus, changes);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }

  Chunks found(std::string_view text, Generation generation, std::size_t limit = 100, const Filter* filter = nullptr) {
    const auto hits = index_->search(call_, {kCorpus, generation, text, limit, filter});
    EXPECT_TRUE(hits.has_value()) << hits.error().message;
    Chunks out;
    if (hits) std::transform(hits->begin(), hits->end(), std::back_inserter(out), [](const ScoredChunk& hit) { return hit.chunk.value; });
    return out;
  }

  std::vector<double> coverage(std::string_view text, Generation generation, const Chunks& chunks) {
    std::vector<ChunkId> ids;
    for (const std::int64_t chunk : chunks) ids.push_back({chunk});
    const auto shares = index_->coverage(call_, {kCorpus, generation, text, 100, nullptr}, ids);
    EXPECT_TRUE(shares.has_value());
    return shares.value_or(std::vector<double>{});
  }

  ErrorCode search_error(std::string_view text, Generation generation) {
    const auto hits = index_->search(call_, {kCorpus, generation, text, 100, nullptr});
    EXPECT_FALSE(hits.has_value());
    return hits ? ErrorCode::kInternal : hits.error().code;
  }

  CallContext call_;
  std::mt19937 random_{20260301};
  std::unique_ptr<KeywordIndex> index_ = GetParam().make();
};

TEST_P(KeywordIndexContract, AnUnknownCorpusIsEmptyAtGenerationZero) {
  EXPECT_EQ(index_->generation(call_, kCorpus).value(), 0);
  EXPECT_EQ(found("word", 0), Chunks{});
  EXPECT_EQ(coverage("word", 0, {1}), std::vector<double>{0.0});
  EXPECT_EQ(search_error("word", 1), ErrorCode::kFailedPrecondition);
}

TEST_P(KeywordIndexContract, FindsWordsInOtherForms) {
  apply({0,
         1,
         {row(1, 1, "The reactors were running hot."), row(2, 1, "A reactor runs; reactors run."), row(3, 1, "Bread and butter.")},
         {}});
  EXPECT_EQ(found("running reactor", 1).size(), 2U);
  EXPECT_EQ(found("BUTTERS", 1), Chunks{3});
  EXPECT_EQ(found("the and", 1), Chunks{});
  EXPECT_EQ(found("", 1), Chunks{});
  EXPECT_EQ(found("zeppelin", 1), Chunks{});
}

TEST_P(KeywordIndexContract, RareWordsWeighMoreThanCommonOnes) {
  apply({0, 1, {row(1, 1, "engine oil"), row(2, 1, "engine wheel"), row(3, 1, "engine door"), row(4, 1, "wing oil")}, {}});
  EXPECT_EQ(found("engine wing", 1).front(), 4);
}

TEST_P(KeywordIndexContract, TitlesAndHeadingsAreSearchedToo) {
  IndexRow with_title = row(1, 1, "Nothing to see.");
  with_title.attributes.title = "Zeppelin maintenance";
  IndexRow with_heading = row(2, 1, "Nothing to see either.");
  with_heading.heading_path = {"Ground crew", "Mooring mast"};
  apply({0, 1, {with_title, with_heading}, {}});
  EXPECT_EQ(found("zeppelins", 1), Chunks{1});
  EXPECT_EQ(found("mast", 1), Chunks{2});
}

TEST_P(KeywordIndexContract, EqualScoresComeByChunkId) {
  apply({0, 1, {row(9, 1, "alpha beta"), row(3, 1, "alpha beta"), row(5, 1, "alpha beta"), row(4, 1, "alpha beta")}, {}});
  EXPECT_EQ(found("alpha", 1), (Chunks{3, 4, 5, 9}));
  EXPECT_EQ(found("alpha", 1, 2), (Chunks{3, 4}));
  EXPECT_EQ(found("alpha", 1, 0), Chunks{});
}

TEST_P(KeywordIndexContract, AGenerationSeesExactlyTheRowsAliveInIt) {
  apply({0, 2, {row(1, 1, "alpha"), row(2, 2, "alpha")}, {}});
  apply({2, 4, {row(3, 4, "alpha")}, {{{1}, 3}}});
  EXPECT_EQ(found("alpha", 1), Chunks{1});
  EXPECT_EQ(found("alpha", 2), (Chunks{1, 2}));
  EXPECT_EQ(found("alpha", 3), Chunks{2});
  EXPECT_EQ(found("alpha", 4), (Chunks{2, 3}));
  EXPECT_EQ(search_error("alpha", 5), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(coverage("alpha", 2, {1})[0], 1.0);
  EXPECT_EQ(coverage("alpha", 3, {1})[0], 0.0);
}

TEST_P(KeywordIndexContract, ForgetLetsGoOfOldGenerationsOnly) {
  apply({0, 1, {row(1, 1, "alpha", 1), row(2, 1, "alpha", 2)}, {}});
  apply({1, 2, {row(3, 2, "alpha", 3)}, {{{1}, 2}}});
  apply({2, 3, {}, {{{2}, 3}}});
  ASSERT_TRUE(index_->forget(call_, kCorpus, 2).has_value());
  EXPECT_EQ(search_error("alpha", 1), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(found("alpha", 2), (Chunks{2, 3}));
  EXPECT_EQ(found("alpha", 3), Chunks{3});
  apply({3, 4, {row(4, 4, "alpha", 4)}, {}});
  const Filter even{.tags = {"even"}};
  EXPECT_EQ(found("alpha", 4, 100, &even), Chunks{4});
}

TEST_P(KeywordIndexContract, ChangesMustBeginWhereTheIndexStands) {
  apply({0, 2, {row(1, 1, "alpha")}, {}});
  for (const Generation from : {0, 1, 3}) {
    const auto done = index_->apply(call_, kCorpus, {from, 5, {row(2, 5, "beta")}, {}});
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::kFailedPrecondition);
  }
  EXPECT_EQ(index_->generation(call_, kCorpus).value(), 2);
  ASSERT_TRUE(index_->drop(call_, kCorpus).has_value());
  apply({0, 5, {row(2, 5, "beta")}, {}});
  EXPECT_EQ(found("alpha beta", 5), Chunks{2});
}

TEST_P(KeywordIndexContract, CorporaDoNotMix) {
  apply({0, 1, {row(1, 1, "alpha")}, {}});
  ASSERT_TRUE(index_->apply(call_, CorpusId{8}, {0, 1, {row(2, 1, "alpha")}, {}}).has_value());
  EXPECT_EQ(found("alpha", 1), Chunks{1});
}

TEST_P(KeywordIndexContract, TheSameQueryOnTheSameGenerationGivesTheSameNumbers) {
  apply({0, 1, {row(1, 1, "alpha beta gamma"), row(2, 1, "alpha delta"), row(3, 1, "beta delta alpha alpha")}, {}});
  const KeywordQuery query{kCorpus, 1, "alpha beta", 10, nullptr};
  const auto before = index_->search(call_, query).value();
  for (Generation g = 2; g < 12; ++g) apply({g - 1, g, {row(g * 10, g, "beta beta epsilon")}, {}});
  apply({11, 12, {}, {{{2}, 12}}});
  const auto after = index_->search(call_, query).value();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].chunk, after[i].chunk);
    EXPECT_EQ(before[i].score, after[i].score);
  }
}

TEST_P(KeywordIndexContract, CoverageIsTheShareOfContentWordsWeighedByRarity) {
  apply({0,
         1,
         {row(1, 1, "The pump pressure gauge."), row(2, 1, "The pump and the valve."), row(3, 1, "A pump."), row(4, 1, "Cheese.")},
         {}});
  const auto all = coverage("What is the pressure of the pump?", 1, {1, 2, 4, 99});
  EXPECT_DOUBLE_EQ(all[0], 1.0);
  EXPECT_GT(all[1], 0.0);
  EXPECT_LT(all[1], 0.5) << "the common word alone is less than half";
  EXPECT_EQ(all[2], 0.0);
  EXPECT_EQ(all[3], 0.0);
  EXPECT_EQ(coverage("what is the", 1, {1})[0], 0.0);
  // A word that no passage contains weighs at least as much as any other.
  EXPECT_LE(coverage("zeppelin pump", 1, {1})[0], 0.5);
  EXPECT_LE(coverage("zeppelin pressure", 1, {1})[0], 0.5 + 1e-9);
  EXPECT_GT(coverage("zeppelin pressure", 1, {1})[0], 0.0);
  EXPECT_DOUBLE_EQ(coverage("pump pump pumps", 1, {1})[0], 1.0);
}

TEST_P(KeywordIndexContract, FiltersAndGenerationsAreExact) {
  struct Known {
    IndexRow row;
    Generation died = std::numeric_limits<Generation>::max();
  };
  static const std::vector<std::string> kWords = {"alpha", "beta", "gamma", "delta", "kappa", "omega", "sigma", "theta"};
  std::vector<Known> all;
  constexpr Generation kLast = 40;
  std::int64_t next_chunk = 1000;
  for (Generation g = 1; g <= kLast; ++g) {
    IndexChanges changes{g - 1, g, {}, {}};
    for (Known& known : all) {
      if (known.died > kLast && random_() % 8 == 0) changes.removed.push_back({known.row.chunk, known.died = g});
    }
    for (std::size_t i = random_() % 20; i > 0; --i) {
      std::string text;
      for (std::size_t w = 1 + random_() % 6; w > 0; --w) text += kWords[random_() % kWords.size()] + " ";
      all.push_back({row((next_chunk++) ^ 0x55, g, text, 1 + static_cast<std::int64_t>(random_() % 9))});
      changes.added.push_back(all.back().row);
    }
    apply(changes);
    if (g == kLast / 2) {
      ASSERT_TRUE(index_->forget(call_, kCorpus, kLast / 4).has_value());
    }
  }
  auto some = std::make_shared<std::vector<ChunkId>>();
  for (std::int64_t chunk = 1000; chunk < next_chunk; chunk += 3) some->push_back(ChunkId{chunk ^ 0x55});
  std::ranges::sort(*some);
  const Filter filters[] = {{}, {.tags = {"even"}}, {.documents = {{3}, {5}}}, {.chunks = some}, {.tags = {"even"}, .chunks = some}};
  for (Generation g = kLast / 4; g <= kLast; g += 3) {
    for (const Filter& filter : filters) {
      const std::string& one = kWords[random_() % kWords.size()];
      const std::string& two = kWords[random_() % kWords.size()];
      Chunks expected;
      for (const Known& known : all) {
        const bool alive = known.row.born <= g && g < known.died;
        const bool holds = known.row.text.find(one) != std::string::npos || known.row.text.find(two) != std::string::npos;
        if (alive && holds && names_chunk(filter, known.row.chunk) && matches(filter, known.row.subject())) {
          expected.push_back(known.row.chunk.value);
        }
      }
      Chunks hits = found(one + " " + two, g, 100'000, &filter);
      const Chunks first = found(one + " " + two, g, 5, &filter);
      EXPECT_TRUE(std::equal(first.begin(), first.end(), hits.begin())) << "a short list is the head of the long one";
      std::sort(hits.begin(), hits.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(hits, expected) << "generation " << g;
    }
  }
}

TEST_P(KeywordIndexContract, ReadersSeeWholeStepsWhileAWriterWorks) {
  apply({0, 1, {row(1, 1, "alpha")}, {}});
  std::atomic<bool> done{false};
  std::atomic<int> reads{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!done) {
        const Generation g = index_->generation(call_, kCorpus).value();
        const auto hits = index_->search(call_, {kCorpus, g, "alpha", 1000, nullptr});
        if (!hits || hits->size() != static_cast<std::size_t>(g)) ++wrong;
        ++reads;
      }
    });
  }
  for (Generation g = 2; g <= 100; ++g) {
    // Some reads between any two steps, so that both sides really overlap.
    for (const int before = reads; reads < before + 3;) std::this_thread::yield();
    apply({g - 1, g, {row(10 * g, g, "alpha"), row(10 * g + 1, g, "alpha beta")}, {{{g == 2 ? 1 : 10 * (g - 1)}, g}}});
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(KeywordIndexContract, WordsInQuotesMustStandTogetherWhereTheyDoSomewhere) {
  apply({0,
         1,
         {row(1, 1, "The pressure valve broke."), row(2, 1, "A valve under pressure."), row(3, 1, "Bread and butter."),
          row(4, 1, "Pressure valves are dear.", 2)},
         {}});
  Chunks hits = found("what does \"pressure valve\" mean", 1);
  std::ranges::sort(hits);
  EXPECT_EQ(hits, (Chunks{1, 4}));
  const Filter even{.tags = {"even"}};
  EXPECT_EQ(found("\"pressure valve\"", 1, 10, &even), Chunks{4});
  hits = found("\"valve pressure\"", 1);
  std::ranges::sort(hits);
  EXPECT_EQ(hits, (Chunks{1, 2, 4})) << "nobody says that: plain words";
  EXPECT_EQ(found("\"bread", 1), Chunks{3}) << "a quote that never ends is none";
}

TEST_P(KeywordIndexContract, TheLastWordMayGoOnWhereAsked) {
  apply({0, 1, {row(1, 1, "The hydraulic pump."), row(2, 1, "A gauge."), row(3, 1, "A hydrant.")}, {}});
  const auto typed = [&](std::string_view text) {
    Chunks out;
    const auto hits = index_->search(call_, {.corpus = kCorpus, .generation = 1, .text = text, .prefix = true});
    EXPECT_TRUE(hits.has_value());
    for (const ScoredChunk& hit : hits.value_or(std::vector<ScoredChunk>{})) out.push_back(hit.chunk.value);
    std::ranges::sort(out);
    return out;
  };
  EXPECT_EQ(typed("hydr"), (Chunks{1, 3}));
  EXPECT_EQ(typed("hydra"), (Chunks{1, 3}));
  EXPECT_EQ(typed("hydrau"), Chunks{1});
  EXPECT_EQ(typed("gauge hydrau"), (Chunks{1, 2}));
  EXPECT_EQ(typed("hydrau gauge"), Chunks{2}) << "only the last word goes on";
  EXPECT_EQ(found("hydrau", 1), Chunks{}) << "off unless asked for";
}

TEST_P(KeywordIndexContract, MisspelledWordsFindTheirLikesWhereAsked) {
  apply({0, 1, {row(1, 1, "The reactor."), row(2, 1, "A compressor."), row(3, 1, "A cat.")}, {}});
  const auto meant = [&](std::string_view text) {
    Chunks out;
    const auto hits = index_->search(call_, {.corpus = kCorpus, .generation = 1, .text = text, .typos = true});
    EXPECT_TRUE(hits.has_value());
    for (const ScoredChunk& hit : hits.value_or(std::vector<ScoredChunk>{})) out.push_back(hit.chunk.value);
    return out;
  };
  EXPECT_EQ(meant("reactr"), Chunks{1});
  EXPECT_EQ(meant("conpresor"), Chunks{2}) << "two edits in a long word";
  EXPECT_EQ(meant("reicter"), Chunks{}) << "two edits in a short one";
  EXPECT_EQ(meant("teactor"), Chunks{}) << "the first letter stands";
  EXPECT_EQ(meant("bat"), Chunks{}) << "too short";
  EXPECT_EQ(found("reactr", 1), Chunks{}) << "off unless asked for";
}

TEST_P(KeywordIndexContract, ACallThatIsOverEndsAndChangesNothing) {
  const KeywordQuery query{kCorpus, 0, "alpha", 10, nullptr};
  const ChunkId chunks[] = {{1}};
  const IndexChanges changes{0, 1, {row(1, 1, "alpha")}, {}};
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(index_->search(contract::stopped_call(), query).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(index_->search(late, query).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(index_->coverage(contract::stopped_call(), query, chunks).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(index_->apply(contract::stopped_call(), kCorpus, changes).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(index_->apply(late, kCorpus, changes).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(index_->generation(call_, kCorpus).value(), 0);
}

TEST_P(KeywordIndexContract, CoverageKeepsToTheRulesOfSearching) {
  apply({0, 1, {row(1, 1, "alpha")}, {}});
  const ChunkId chunks[] = {{1}};
  EXPECT_EQ(index_->coverage(call_, {kCorpus, 2, "alpha", 10, nullptr}, chunks).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(index_->coverage(call_, {kCorpus, 1, "alpha", 10, nullptr}, {}).value().empty());
}

TEST_P(KeywordIndexContract, AnyBytesAreTextAndAnyBytesAreAQuery) {
  std::string noise;
  for (int i = 0; i < 4096; ++i) noise.push_back(static_cast<char>(random_() % 256));
  apply({0, 1, {row(1, 1, noise), row(2, 1, std::string(100'000, 'x')), row(3, 1, "plain")}, {}});
  found(noise, 1);
  found(std::string(100'000, 'x'), 1);
  EXPECT_EQ(found("plain", 1), Chunks{3});
}

}  // namespace footnote
