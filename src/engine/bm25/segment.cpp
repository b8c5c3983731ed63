#include "engine/bm25/segment.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace footnote::bm25 {

std::uint64_t Segment::total_length() const {
  std::uint64_t out = 0;
  for (const LengthCode code : lengths) out += length_of(code);
  return out;
}

void Batch::begin_row(const rows::Row& row) {
  rows_.push_back(row);
  first_.push_back(occurrences_.size());
}

void Batch::add_term(std::string_view term, std::uint32_t position) {
  FOOTNOTE_ASSERT(!rows_.empty());
  auto found = ids_.find(term);
  if (found == ids_.end()) {
    found = ids_.emplace(std::string(term), static_cast<std::uint32_t>(names_.size())).first;
    names_.push_back(&found->first);
  }
  occurrences_.push_back({found->second, position});
}

std::vector<std::uint32_t> Batch::terms_of(std::span<const std::uint32_t> order) const {
  std::vector<std::uint8_t> seen(names_.size(), 0);
  std::vector<std::uint32_t> out;
  for (const std::uint32_t row : order) {
    for (const Occurrence& occurrence : occurrences_of(row)) {
      if (seen[occurrence.term]) continue;
      seen[occurrence.term] = 1;
      out.push_back(occurrence.term);
    }
  }
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return *names_[a] < *names_[b]; });
  return out;
}

std::shared_ptr<Segment> Batch::build(std::span<const std::uint32_t> order) const {
  FOOTNOTE_ASSERT(order.size() <= kSegmentRowsMax);
  std::vector<rows::Row> table;
  table.reserve(order.size());
  for (const std::uint32_t i : order) table.push_back(rows_[i]);
  auto out = std::make_shared<Segment>(table);
  out->lengths.reserve(order.size());
  for (const std::uint32_t i : order) out->lengths.push_back(length_code(terms_in(i)));

  // Occurrences are distributed to their terms row by row, so those of one term end up sorted by row.
  struct Place {
    std::uint32_t row = 0;
    std::uint32_t position = 0;
  };
  std::vector<std::size_t> next(names_.size() + 1, 0);
  for (const std::uint32_t row : order) {
    for (const Occurrence& occurrence : occurrences_of(row)) ++next[occurrence.term + 1];
  }
  for (std::size_t id = 0; id < names_.size(); ++id) next[id + 1] += next[id];
  std::vector<Place> places(next.back());
  for (std::uint32_t row = 0; row < order.size(); ++row) {
    for (const Occurrence& occurrence : occurrences_of(order[row])) places[next[occurrence.term]++] = {row, occurrence.position};
  }
  // Filling advanced each begin to its end, which is the next term's begin.
  ListWriter writer;
  std::vector<std::uint32_t> positions;
  out->begins.push_back(0);
  for (const std::uint32_t id : terms_of(order)) {
    out->terms.append(*names_[id]);
    for (std::size_t i = id == 0 ? 0 : next[id - 1]; i < next[id];) {
      const std::uint32_t row = places[i].row;
      positions.clear();
      for (; i < next[id] && places[i].row == row; ++i) positions.push_back(places[i].position);
      if (!std::ranges::is_sorted(positions)) std::ranges::sort(positions);
      writer.add(row, positions);
    }
    writer.finish(out->lengths, out->lists);
    out->begins.push_back(static_cast<std::uint32_t>(out->lists.size()));
  }
  out->lists.shrink_to_fit();
  return out;
}

namespace {

/// The new numbers of the parts' rows: renumbered[part][row] is the new row, or kDropped.
struct RowPlan {
  static constexpr std::uint32_t kDropped = std::numeric_limits<std::uint32_t>::max();
  std::vector<rows::Row> rows;
  std::vector<LengthCode> lengths;
  std::vector<std::vector<std::uint32_t>> renumbered;
};

RowPlan plan_rows(std::span<const Segment* const> parts, std::int64_t died_until) {
  RowPlan plan;
  plan.renumbered.resize(parts.size());
  std::vector<rows::Row> all;
  std::vector<std::pair<std::size_t, std::size_t>> origin;  // (part, row)
  for (std::size_t p = 0; p < parts.size(); ++p) {
    plan.renumbered[p].assign(parts[p]->rows.size(), RowPlan::kDropped);
    for (std::size_t r = 0; r < parts[p]->rows.size(); ++r) {
      if (parts[p]->rows.died(r) <= died_until) continue;
      all.push_back(parts[p]->rows.row(r));
      origin.emplace_back(p, r);
    }
  }
  for (const std::uint32_t i : rows::sorted_order(all)) {
    const auto [p, r] = origin[i];
    plan.renumbered[p][r] = static_cast<std::uint32_t>(plan.rows.size());
    plan.rows.push_back(all[i]);
    plan.lengths.push_back(parts[p]->lengths[r]);
  }
  return plan;
}

/// Collects one term's postings from several parts.
class ListMerger {
 public:
  void add(const PostingList& list, std::span<const std::uint32_t> renumbered) {
    for (std::size_t b = 0; b < list.block_count(); ++b) {
      list.decode(b, block_);
      auto positions = list.positions(b);
      for (std::size_t i = 0; i < block_.size; ++i) {
        const std::uint32_t count = block_.counts[i] + 1U;
        const std::size_t size = positions_size(positions, count);
        const std::uint32_t row = renumbered[block_.rows[i]];
        if (row != RowPlan::kDropped) postings_.push_back({row, count, positions.first(size)});
        positions = positions.subspan(size);
      }
    }
  }

  /// False when no row is left.
  bool write(std::span<const LengthCode> lengths, std::vector<std::uint8_t>& out) {
    if (postings_.empty()) return false;
    // Each part's rows keep their order, and later parts mostly follow earlier ones.
    if (!std::ranges::is_sorted(postings_, {}, &Posting::row)) std::ranges::sort(postings_, {}, &Posting::row);
    for (const Posting& posting : postings_) writer_.add_encoded(posting.row, posting.count, posting.positions);
    writer_.finish(lengths, out);
    postings_.clear();
    return true;
  }

 private:
  struct Posting {
    std::uint32_t row = 0;
    std::uint32_t count = 0;
    std::span<const std::uint8_t> positions;
  };

  std::vector<Posting> postings_;
  Block block_;
  ListWriter writer_;
};

}  // namespace

std::shared_ptr<Segment> combine(std::span<const Segment* const> parts, std::int64_t died_until) {
  RowPlan plan = plan_rows(parts, died_until);
  if (plan.rows.empty()) return nullptr;
  auto out = std::make_shared<Segment>(plan.rows);
  out->lengths = std::move(plan.lengths);
  out->begins.push_back(0);
  std::size_t bytes = 0;
  for (const Segment* part : parts) bytes += part->lists.size();
  out->lists.reserve(bytes);
  ListMerger merger;
  std::vector<std::size_t> cursor(parts.size(), 0);
  std::vector<std::string_view> heads(parts.size());
  while (true) {
    const std::string_view* least = nullptr;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (cursor[p] == parts[p]->terms.size()) continue;
      heads[p] = parts[p]->terms[cursor[p]];
      if (least == nullptr || heads[p] < *least) least = &heads[p];
    }
    if (least == nullptr) break;
    const std::string_view term = *least;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (cursor[p] == parts[p]->terms.size() || heads[p] != term) continue;
      merger.add(parts[p]->list(cursor[p]++), plan.renumbered[p]);
    }
    if (!merger.write(out->lengths, out->lists)) continue;  // Only dropped rows contained it.
    out->terms.append(term);
    out->begins.push_back(static_cast<std::uint32_t>(out->lists.size()));
  }
  out->lists.shrink_to_fit();
  return out;
}

}  // namespace footnote::bm25
