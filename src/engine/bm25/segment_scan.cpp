#include "engine/bm25/segment_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace footnote::bm25 {
namespace {

/// Rows scored per window: their sums stay in the first-level cache.
constexpr std::size_t kWindowRows = 4096;

/// If a filter leaves few rows in a window, those rows are looked up in each list, instead of adding up whole lists. A lookup costs about
/// as much as adding this many postings.
constexpr std::size_t kLookUpCost = 24;

/// The same for the few rows that rarer terms have selected. It costs less, because the cursor is usually close already.
constexpr std::size_t kAskingCost = 8;

/// With fewer rows per window than this, adding up is faster than computing bounds. Measured at 100,000 passages.
constexpr std::size_t kPruningRows = 1024;

constexpr std::size_t kMaskRows = 16;

/// A bit for each of kMaskRows sums that is >= `least`.
std::uint32_t rows_from(const Units* sums, Units least) {
#if defined(__SSE2__)
  const __m128i below = _mm_set1_epi32(least - 1);
  const auto over = [&](std::size_t i) { return _mm_cmpgt_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sums + i)), below); };
  const __m128i low = _mm_packs_epi32(over(0), over(4));
  const __m128i high = _mm_packs_epi32(over(8), over(12));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < kMaskRows; ++i) out |= static_cast<std::uint32_t>(sums[i] >= least) << i;
  return out;
#endif
}

/// Searches one segment, window by window (MaxScore). In each window, terms whose maximum scores together stay below the floor cannot bring
/// a row into the top-k on their own. These terms are optional: they are looked up only for rows that the other terms select.
class Scan {
 public:
  Scan(const Segment& segment, std::span<const ScanTerm> terms, std::span<const std::uint8_t> visible, float unit, Pruning pruning,
       TopRows& top)
      : segment_(segment), visible_(visible), unit_(unit), units_(1 / unit), pruning_(pruning), top_(top) {
    raise_floor();
    terms_.reserve(terms.size());
    for (const ScanTerm& term : terms) {
      terms_.push_back({.cursor = ListCursor(term.list), .score = term.score});
      terms_.back().peak = term.score->bound(kCountMax - 1, 0);
      terms_.back().window_rows = term.list.size() * kWindowRows / segment.rows.size();
      window_postings_ += terms_.back().window_rows;
    }
    order_.resize(terms.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, {}, [&](std::size_t i) { return terms_[i].peak; });
    by_peak_ = order_;
  }

  void run() {
    for (std::size_t begin = 0; begin < segment_.rows.size(); begin += kWindowRows) {
      begin_ = static_cast<std::uint32_t>(begin);
      end_ = static_cast<std::uint32_t>(std::min(begin + kWindowRows, segment_.rows.size()));
      scan_window();
    }
  }

 private:
  struct Term {
    ListCursor cursor;
    const TermScore* score = nullptr;
    Units peak = 0;               // Its maximum score in any row.
    Units bound = 0;              // Its maximum score in this window.
    std::size_t window_rows = 0;  // The approximate number of rows per window that contain it.
  };

  void scan_window() {
    const std::size_t let_through = visible_rows();
    if (let_through == 0) return;
    for (Term& term : terms_) term.cursor.skip_to(begin_);
    const bool narrow = let_through * terms_.size() * kLookUpCost < window_postings_;
    if (pruning_ == Pruning::kOff || (!narrow && !pruning_pays())) {
      optional_bound_ = 0;
      for (Term& term : terms_) add_up(term);
      collect(0);
    } else {
      find_bounds();
      if (optional_bound_ < floor_) return;
      if (narrow) return look_up_visible();
      collect(add_up_needed());
    }
    std::fill_n(sums_.begin(), end_ - begin_, 0);
  }

  /// Whether skipping the optional terms (by their peaks) saves enough time.
  bool pruning_pays() const {
    Units bound = 0;
    std::size_t rows = 0;
    for (const std::size_t i : by_peak_) {
      bound += terms_[i].peak;
      if (bound >= floor_) break;
      rows += terms_[i].window_rows;
    }
    return rows >= kPruningRows;
  }

  /// Adds up terms until looking up the remaining ones is cheaper. Returns the number of terms left to look up: the first ones of order_.
  std::size_t add_up_needed() {
    std::size_t optional = 0;
    Units bound = 0;
    while (optional < order_.size() && bound + terms_[order_[optional]].bound < floor_) bound += terms_[order_[optional++]].bound;
    for (std::size_t i = optional; i < order_.size(); ++i) add_up(terms_[order_[i]]);
    optional_bound_ = bound;
    while (optional > 0) {
      Term& next = terms_[order_[optional - 1]];
      if (candidates() * kAskingCost < next.window_rows) break;
      add_up(next);
      optional_bound_ -= next.bound;
      --optional;
    }
    return optional;
  }

  std::size_t candidates() const {
    const Units least = needed();
    int count = 0;
    for (std::size_t i = 0; i < end_ - begin_; ++i) count += sums_[i] >= least;
    return static_cast<std::size_t>(count);
  }

  std::size_t visible_rows() const {
    if (visible_.empty()) return end_ - begin_;
    std::size_t count = 0;
    for (std::uint32_t row = begin_; row < end_; ++row) count += visible_[row] != 0;
    return count;
  }

  /// Computes each term's bound in this window and their sum, optional_bound_; orders the terms by bound.
  void find_bounds() {
    optional_bound_ = 0;
    for (Term& term : terms_) {
      term.bound = bound_of(term);
      optional_bound_ += term.bound;
    }
    std::ranges::sort(order_, {}, [&](std::size_t i) { return terms_[i].bound; });
  }

  Units bound_of(const Term& term) const {
    const PostingList& list = term.cursor.list();
    if (term.cursor.done()) return 0;
    if (!list.has_heads()) return term.peak;
    Units bound = 0;
    for (std::size_t block = term.cursor.block(); block < list.block_count(); ++block) {
      const BlockHead head = list.head(block);
      bound = std::max(bound, term.score->bound(head.count_max, head.length_min));
      if (head.last_row >= end_ - 1) break;
    }
    return bound;
  }

  /// Adds a term to the sums of its rows in this window.
  void add_up(Term& term) {
    while (!term.cursor.done()) {
      const std::size_t first = term.cursor.seek(begin_);
      const Block& block = term.cursor.decoded();
      const auto begin = block.rows.begin();
      const bool ends_here = block.rows[block.size - 1] < end_;
      const std::size_t last =
          ends_here ? block.size : static_cast<std::size_t>(std::lower_bound(begin + first, begin + block.size, end_) - begin);
      add_block(*term.score, block, first, last);
      if (!ends_here) return;
      term.cursor.next_block();
    }
  }

  void add_block(const TermScore& score, const Block& block, std::size_t first, std::size_t last) {
    const LengthCode* const lengths = segment_.lengths.data();
    Units* const sums = sums_.data();
    const std::uint32_t begin = begin_;
    const Units* const table = score.table();
    if (table == nullptr) {
      for (std::size_t i = first; i < last; ++i) sums[block.rows[i] - begin] += score(block.counts[i], lengths[block.rows[i]]);
      return;
    }
    for (std::size_t i = first; i < last; ++i) {
      const std::uint16_t row = block.rows[i];
      const std::uint16_t count = block.counts[i];
      sums[row - begin] +=
          count < Saturation::kTabledCounts ? table[count * Saturation::kCodes + lengths[row]] : score(count, lengths[row]);
    }
  }

  /// Offers the rows whose sum plus optional_bound_ reaches the floor.
  void collect(std::size_t optional) {
    for (std::uint32_t first = begin_; first < end_; first += kMaskRows) {
      const Units* const sums = &sums_[first - begin_];
      for (std::uint32_t rows = rows_from(sums, needed()); rows != 0; rows &= rows - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(rows));
        // The floor may have risen since the mask was computed.
        if (sums[i] >= needed() && is_visible(first + i)) complete(first + i, sums[i], optional, optional_bound_);
      }
    }
  }

  /// The smallest sum with which a row can still enter the top-k.
  Units needed() const { return std::max(1, floor_ - optional_bound_); }

  bool is_visible(std::uint32_t row) const { return visible_.empty() || visible_[row] != 0; }

  void look_up_visible() {
    for (std::uint32_t row = begin_; row < end_; ++row) {
      if (is_visible(row)) complete(row, 0, order_.size(), optional_bound_);
    }
  }

  /// Adds the first `optional` terms, worth at most `bound` together, to a row's sum; offers the row unless it falls below the floor.
  void complete(std::uint32_t row, Units sum, std::size_t optional, Units bound) {
    for (std::size_t i = optional; i > 0; --i) {
      if (sum + bound < floor_) return;
      Term& term = terms_[order_[i - 1]];
      bound -= term.bound;
      const int count = term.cursor.count_at(row);
      if (count >= 0) sum += (*term.score)(static_cast<std::size_t>(count), segment_.lengths[row]);
    }
    if (sum == 0 || sum < floor_) return;
    if (top_.offer(segment_.rows.label(row), static_cast<float>(sum) * unit_)) raise_floor();
  }

  void raise_floor() {
    if (top_.floor() > 0) floor_ = static_cast<Units>(top_.floor() * units_);
  }

  const Segment& segment_;
  const std::span<const std::uint8_t> visible_;
  const float unit_;
  const float units_;  // Units per score.
  const Pruning pruning_;
  TopRows& top_;
  std::vector<Term> terms_;
  std::vector<std::size_t> order_;    // Indexes of the terms by bound, lowest first.
  std::vector<std::size_t> by_peak_;  // The same by peak.
  std::size_t window_postings_ = 0;   // The approximate number of postings per window.
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  Units floor_ = 0;           // Rows below it can't enter the top-k.
  Units optional_bound_ = 0;  // The maximum that the optional terms of this window can add together.
  std::array<Units, kWindowRows> sums_{};
};

}  // namespace

void scan_segment(const Segment& segment, std::span<const ScanTerm> terms, std::span<const std::uint8_t> visible, float unit,
                  Pruning pruning, TopRows& top) {
  if (!terms.empty()) Scan(segment, terms, visible, unit, pruning, top).run();
}

}  // namespace footnote::bm25
