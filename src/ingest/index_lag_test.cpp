#include "ingest/index_lag.h"

#include <gtest/gtest.h>

namespace footnote::ingest {
namespace {

/// An index at a given generation.
class IndexAt final : public IndexWriter {
 public:
  Result<Generation> generation(const CallContext&, CorpusId corpus) const override {
    const auto found = at.find(corpus);
    if (found == at.end()) return fail(ErrorCode::kUnavailable, "no word");
    return found->second;
  }
  Result<void> apply(const CallContext&, CorpusId, const IndexChanges&) override { return {}; }
  Result<void> forget(const CallContext&, CorpusId, Generation) override { return {}; }
  Result<void> drop(const CallContext&, CorpusId) override { return {}; }

  std::map<CorpusId, Generation> at;
};

Corpus corpus(std::int64_t id, Generation generation) {
  Corpus out;
  out.id = {id};
  out.generation = generation;
  return out;
}

class IndexLagTest : public testing::Test {
 protected:
  std::int64_t lag(const std::vector<Corpus>& corpora) {
    lag_.refresh({}, corpora);
    return metrics_.gauge("footnote_index_lag_seconds", "").value();
  }

  ManualClock clock_{UtcTime{}};
  Metrics metrics_;
  IndexAt vectors_, keywords_;
  IndexLag lag_{{&vectors_, &keywords_}, clock_, metrics_};
};

TEST_F(IndexLagTest, CountsFromTheFirstLookThatFoundOneBehind) {
  vectors_.at = {{{1}, 5}};
  keywords_.at = {{{1}, 5}};
  EXPECT_EQ(lag({corpus(1, 5)}), 0);
  EXPECT_EQ(lag({corpus(1, 6)}), 1);
  clock_.advance(std::chrono::milliseconds{30'500});
  vectors_.at[{1}] = 6;
  EXPECT_EQ(lag({corpus(1, 6)}), 31) << "one index caught up, the other did not";
  keywords_.at[{1}] = 6;
  EXPECT_EQ(lag({corpus(1, 6)}), 0);
  EXPECT_EQ(lag({corpus(1, 7)}), 1) << "a new lag starts anew";
}

TEST_F(IndexLagTest, TheWorstCorpusCounts) {
  vectors_.at = keywords_.at = {{{1}, 0}, {{2}, 9}};
  EXPECT_EQ(lag({corpus(1, 1), corpus(2, 9)}), 1);
  clock_.advance(std::chrono::seconds{10});
  EXPECT_EQ(lag({corpus(1, 1), corpus(2, 10)}), 10);
  EXPECT_EQ(lag({corpus(2, 10)}), 1) << "a corpus that is gone lags no more";
}

TEST_F(IndexLagTest, AnIndexThatCantBeAskedIsPassedOver) {
  vectors_.at = {{{1}, 3}};
  EXPECT_EQ(lag({corpus(1, 3)}), 0);
}

}  // namespace
}  // namespace footnote::ingest
