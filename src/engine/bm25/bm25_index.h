#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bm25/segment.h"
#include "engine/bm25/segment_scan.h"
#include "engine/bm25/term_score.h"
#include "engine/rows/row_stream.h"
#include "engine/rows/row_table.h"
#include "engine/rows/top_k.h"

namespace footnote::bm25 {

struct QueryTerm {
  /// A term that shares its rarity with no other.
  static constexpr std::uint32_t kAlone = 0;

  std::string text;
  float weight = 1;  ///< How often the query says it.
  /// Terms of one group stand for one word (what a prefix may become, say): each is as rare as all of them together.
  std::uint32_t group = kAlone;
};

/// Terms that must stand in a row at these distances from the first.
struct PhraseTerm {
  std::string text;
  std::uint32_t offset = 0;  ///< Ascending, the first 0.
};
/// A row holds a phrase that holds any one of these.
using Phrase = std::vector<std::vector<PhraseTerm>>;

struct Bm25Query {
  std::span<const QueryTerm> terms;  ///< Distinct.
  std::int64_t generation = 0;
  std::size_t limit = 10;
  rows::RowFilter filter = {};  ///< Statistics are always those of all rows.
  /// Only rows that hold them are found; one that none of the rows left holds is passed over.
  std::span<const Phrase> phrases = {};
  Pruning pruning = Pruning::kOn;
};

/// What a row may hold in place of a query word: any one of these terms.
using Alternatives = std::vector<std::string>;

/// BM25 over rows of terms: idf = ln(1 + (N - n + .5) / (n + .5)), score = sum of
/// weight * idf * tf / (tf + k1 * (1 - b + b * length / mean length)), with the statistics of the rows that are there
/// in the generation asked for: the same query on the same generation gives the same numbers, whatever came later and
/// however the rows lie. Lengths are those of row_length.h; scores are rounded to a millionth or so of the query's best.
///
/// Copies are cheap and share their rows. A const index is safe from any thread. To change one while others read it,
/// change a copy and publish that: readers of the older copy, at generations before the change, see nothing of it.
/// Only the newest copy may be changed, by one thread at a time.
class Bm25Index {
 public:
  static constexpr std::size_t kTermsLookedAt = 4096;

  explicit Bm25Index(Bm25Options options = {}) : options_(options) {}

  /// Ends and adds rows. A death goes to the living row of its label that was born before it, new or old; one that
  /// finds none is passed over.
  /// REQUIRES: births and deaths lie past the generations that readers of older copies ask for.
  void apply(const Batch& added, std::span<const rows::Death> ended);

  /// Drops the rows that died at or before `died_until`. Older generations can't be asked for any more.
  void forget(std::int64_t died_until);

  /// Rows that hold at least one of the terms, best first, equal scores by label.
  std::vector<rows::ScoredLabel> search(const Bm25Query& query) const;

  /// For each label the share of the words that its row holds, each weighed by its idf (the least of its known
  /// alternatives; a word that no row holds weighs as one that a single row holds). 0 where there are no words and for
  /// a label that is not there.
  std::vector<double> coverage(std::span<const Alternatives> words, std::int64_t generation, std::span<const std::int64_t> labels) const;

  /// Rows of that generation that hold the term.
  std::size_t document_frequency(std::string_view term, std::int64_t generation) const;

  /// Up to `limit` terms that begin with `prefix`, those that most rows hold first. Looks at kTermsLookedAt of a segment.
  std::vector<std::string> terms_from(std::string_view prefix, std::size_t limit) const;
  /// Up to `limit` terms with the same first byte at most `distance` edits away, nearest first, then those that most
  /// rows hold.
  std::vector<std::string> terms_near(std::string_view term, std::size_t distance, std::size_t limit) const;

  /// index := segments:u32 segment*
  /// segment := rows length:u8[rows] terms:u32 text end:u32[terms] begin:u32[terms + 1] list*
  /// For list see PostingList. Deaths are not written: forget() those that count first.
  Result<void> save(ByteSink& sink) const;
  /// What save() wrote. kCorrupted: something else.
  static Result<Bm25Index> load(ByteSource& source, rows::RowLimits limits, Bm25Options options = {});

  bool contains(std::int64_t label, std::int64_t generation) const;
  /// Calls `visit(Row)` for the rows that are there in that generation.
  template <class Visit>
  void for_each_alive(std::int64_t generation, const Visit& visit) const {
    for (const auto& segment : segments_) segment->rows.for_each_alive(generation, visit);
  }
  /// Sets the bytes of the groups that some row belongs to, dead ones too. REQUIRES: a byte for each.
  void mark_groups(rows::GroupMask& used) const;
  const Bm25Options& options() const { return options_; }
  std::size_t segment_count() const { return segments_.size(); }
  /// Rows held, those that died included.
  std::size_t row_count() const;
  /// Bytes of memory that terms, lists and lengths take.
  std::size_t byte_count() const;

 private:
  struct Statistics {
    std::uint64_t rows = 0;
    std::uint64_t length = 0;
  };

  bool end_row(const rows::Death& death);
  void append(std::shared_ptr<Segment> fresh);
  Statistics statistics_at(std::int64_t generation) const;

  Bm25Options options_;
  std::vector<std::shared_ptr<Segment>> segments_;  // Shared: copies of the index hold the same segments.
  Statistics living_;                               // Of the rows that have not died.
  std::int64_t changed_last_ = 0;                   // The newest birth or death.
};

}  // namespace footnote::bm25
