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
  /// The group of terms that share their idf with no other term.
  static constexpr std::uint32_t kAlone = 0;

  std::string text;
  float weight = 1;  ///< How often the query contains it.
  /// Terms of one group stand for the same word (the expansions of a prefix, say) and share one idf, computed over all of them together.
  std::uint32_t group = kAlone;
};

/// A term of a phrase, at a distance from the phrase's first term.
struct PhraseTerm {
  std::string text;
  std::uint32_t offset = 0;  ///< Ascending, starting at 0.
};
/// Alternative sequences: a row matches when it contains any one of them.
using Phrase = std::vector<std::vector<PhraseTerm>>;

struct Bm25Query {
  std::span<const QueryTerm> terms;  ///< No duplicates.
  std::int64_t generation = 0;
  std::size_t limit = 10;
  rows::RowFilter filter = {};  ///< Restricts the result only: statistics always cover all rows.
  /// Find only rows that contain all phrases. Phrases are applied in order; one that no remaining row contains is ignored.
  std::span<const Phrase> phrases = {};
  Pruning pruning = Pruning::kOn;
};

/// Terms that stand for one query word: a row that contains any of them contains the word.
using Alternatives = std::vector<std::string>;

/// BM25 over rows of terms:
///   idf = ln(1 + (N - n + .5) / (n + .5))
///   score = sum of weight * idf * tf / (tf + k1 * (1 - b + b * length / mean length))
/// The statistics are those of the rows visible in the query's generation, so a query on a generation always gives the same scores. Lengths
/// are quantised (row_length.h); scores are rounded to about a millionth of the query's best.
///
/// Copies are cheap and share their rows. A const index is thread-safe. To change an index while others read it, change a copy and publish
/// that: readers of the older copy, at generations before the change, do not see it. Only the newest copy may be changed, by one thread at
/// a time.
class Bm25Index {
 public:
  static constexpr std::size_t kTermsLookedAt = 4096;

  explicit Bm25Index(Bm25Options options = {}) : options_(options) {}

  /// Adds rows and ends others. A death ends the live row of its label that was born before it, whether old or just added; without such a
  /// row it is ignored. REQUIRES: births and deaths are later than the generations that readers of older copies use.
  void apply(const Batch& added, std::span<const rows::Death> ended);

  /// Drops the rows that died in generation `died_until` or earlier. Older generations can't be searched any more.
  void forget(std::int64_t died_until);

  /// Rows that contain at least one of the terms, best first; ties are ordered by label.
  std::vector<rows::ScoredLabel> search(const Bm25Query& query) const;

  /// For each label the idf-weighted share of the words that its row contains. A word's idf is the lowest of its known alternatives; an
  /// unknown word counts as one that a single row contains. 0 for an unknown label, and when there are no words.
  std::vector<double> coverage(std::span<const Alternatives> words, std::int64_t generation, std::span<const std::int64_t> labels) const;

  /// The number of rows of that generation that contain the term.
  std::size_t document_frequency(std::string_view term, std::int64_t generation) const;

  /// Up to `limit` terms with this prefix, most frequent first. Examines at most kTermsLookedAt terms per segment.
  std::vector<std::string> terms_from(std::string_view prefix, std::size_t limit) const;
  /// Up to `limit` terms with the same first byte and at most `distance` edits, nearest first, then most frequent first.
  std::vector<std::string> terms_near(std::string_view term, std::size_t distance, std::size_t limit) const;

  /// index := segments:u32 segment*
  /// segment := rows length:u8[rows] terms:u32 text end:u32[terms] begin:u32[terms + 1] list*
  /// For list see PostingList. Deaths are not stored: call forget() first.
  Result<void> save(ByteSink& sink) const;
  /// Reads what save() wrote. kCorrupted: anything else.
  static Result<Bm25Index> load(ByteSource& source, rows::RowLimits limits, Bm25Options options = {});

  bool contains(std::int64_t label, std::int64_t generation) const;
  /// Calls `visit(Row)` for the rows that are alive in that generation.
  template <class Visit>
  void for_each_alive(std::int64_t generation, const Visit& visit) const {
    for (const auto& segment : segments_) segment->rows.for_each_alive(generation, visit);
  }
  /// Sets the bytes of all groups that a row belongs to, dead rows included. REQUIRES: a byte for each group.
  void mark_groups(rows::GroupMask& used) const;
  const Bm25Options& options() const { return options_; }
  std::size_t segment_count() const { return segments_.size(); }
  /// Rows held, dead ones included.
  std::size_t row_count() const;
  /// Bytes used by terms, lists and lengths.
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
  std::vector<std::shared_ptr<Segment>> segments_;  // Shared: copies of the index use the same segments.
  Statistics living_;                               // Statistics of the live rows.
  std::int64_t changed_last_ = 0;                   // The latest birth or death.
};

}  // namespace footnote::bm25
