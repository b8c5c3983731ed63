#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bm25/segment.h"
#include "engine/rows/row_stream.h"
#include "engine/rows/row_table.h"
#include "engine/rows/top_k.h"

namespace footnote::bm25 {

struct Bm25Options {
  float k1 = 0.9F;
  float b = 0.4F;
};

struct QueryTerm {
  std::string text;
  float weight = 1;  ///< How often the query says it.
};

struct Bm25Query {
  std::span<const QueryTerm> terms;  ///< Distinct.
  std::int64_t generation = 0;
  std::size_t limit = 10;
  ann::RowFilter filter = {};  ///< Statistics are always those of all rows.
};

/// What a row may hold in place of a query word: any one of these terms.
using Alternatives = std::vector<std::string>;

/// Exact BM25 over rows of terms: idf = ln(1 + (N - n + .5) / (n + .5)), score = sum of
/// weight * idf * tf / (tf + k1 * (1 - b + b * length / mean length)), with the statistics of the rows that are there
/// in the generation asked for: the same query on the same generation gives the same numbers, whatever came later and
/// however the rows lie.
///
/// Copies are cheap and share their rows. A const index is safe from any thread. To change one while others read it,
/// change a copy and publish that: readers of the older copy, at generations before the change, see nothing of it.
/// Only the newest copy may be changed, by one thread at a time.
class Bm25Index {
 public:
  static constexpr std::size_t kSegmentRowsMax = 65'536;

  explicit Bm25Index(Bm25Options options = {}) : options_(options) {}

  /// Ends and adds rows. A death goes to the living row of its label that was born before it, new or old; one that
  /// finds none is passed over.
  /// REQUIRES: births and deaths lie past the generations that readers of older copies ask for.
  void apply(const Batch& added, std::span<const ann::Death> ended);

  /// Drops the rows that died at or before `died_until`. Older generations can't be asked for any more.
  void forget(std::int64_t died_until);

  /// Rows that hold at least one of the terms, best first, equal scores by label.
  std::vector<ann::ScoredLabel> search(const Bm25Query& query) const;

  /// For each label the share of the words that its row holds, each weighed by its idf (the least of its known
  /// alternatives; a word that no row holds weighs as one that a single row holds). 0 where there are no words and for
  /// a label that is not there.
  std::vector<double> coverage(std::span<const Alternatives> words, std::int64_t generation, std::span<const std::int64_t> labels) const;

  /// Rows of that generation that hold the term.
  std::size_t document_frequency(std::string_view term, std::int64_t generation) const;

  /// index := segments:u32 segment*
  /// segment := rows length:u32[rows] terms:u32 text end:u32[terms] first:u32[terms + 1] posting:u32[first.back()]
  /// Deaths are not written: forget() those that count first.
  Result<void> save(ByteSink& sink) const;
  /// What save() wrote. kCorrupted: something else.
  static Result<Bm25Index> load(ByteSource& source, ann::RowLimits limits, Bm25Options options = {});

  bool contains(std::int64_t label, std::int64_t generation) const;
  /// Sets the bytes of the groups that some row belongs to, dead ones too. REQUIRES: a byte for each.
  void mark_groups(ann::GroupMask& used) const;
  const Bm25Options& options() const { return options_; }
  std::size_t segment_count() const { return segments_.size(); }
  /// Rows held, those that died included.
  std::size_t row_count() const;

 private:
  struct Statistics {
    std::uint64_t rows = 0;
    std::uint64_t length = 0;
  };
  struct WeighedTerm {
    std::string_view text;
    float weight = 0;
  };

  bool end_row(const ann::Death& death);
  Statistics statistics_at(std::int64_t generation) const;
  void scan(const Segment& segment, std::span<const WeighedTerm> terms, float mean_length, const Bm25Query& query, ann::TopK& top) const;

  Bm25Options options_;
  std::vector<std::shared_ptr<Segment>> segments_;  // Shared: copies of the index hold the same segments.
  Statistics living_;                               // Of the rows that have not died.
  std::int64_t changed_last_ = 0;                   // The newest birth or death.
};

}  // namespace footnote::bm25
