#include "engine/bm25/segment.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace footnote::bm25 {

bool Segment::holds(std::size_t row, std::size_t term) const {
  const auto list = postings_of(term);
  const auto found = std::lower_bound(list.begin(), list.end(), static_cast<Posting>(row << 8));
  return found != list.end() && row_of(*found) == row;
}

void Batch::begin_row(const ann::Row& row) {
  rows_.push_back(row);
  first_term_.push_back(term_ids_.size());
}

void Batch::add_term(std::string_view term) {
  FOOTNOTE_ASSERT(!rows_.empty());
  auto found = ids_.find(term);
  if (found == ids_.end()) {
    found = ids_.emplace(std::string(term), static_cast<std::uint32_t>(names_.size())).first;
    names_.push_back(&found->first);
  }
  term_ids_.push_back(found->second);
}

std::shared_ptr<Segment> Batch::build(std::span<const std::uint32_t> order) const {
  constexpr auto kUnused = std::numeric_limits<std::uint32_t>::max();
  std::vector<ann::Row> table;
  table.reserve(order.size());
  for (const std::uint32_t i : order) table.push_back(rows_[i]);
  auto out = std::make_shared<Segment>(table);

  const auto terms_of = [&](std::uint32_t i) {
    const std::size_t end = i + 1 < first_term_.size() ? first_term_[i + 1] : term_ids_.size();
    return std::span(term_ids_).subspan(first_term_[i], end - first_term_[i]);
  };
  // The ids that these rows use, by name, become places in the table.
  std::vector<std::uint32_t> place(names_.size(), kUnused);
  std::vector<std::uint32_t> used;
  for (const std::uint32_t i : order) {
    for (const std::uint32_t id : terms_of(i)) {
      if (place[id] == kUnused) place[id] = 0, used.push_back(id);
    }
  }
  std::sort(used.begin(), used.end(), [&](std::uint32_t a, std::uint32_t b) { return *names_[a] < *names_[b]; });
  for (std::uint32_t t = 0; t < used.size(); ++t) {
    place[used[t]] = t;
    out->terms.append(*names_[used[t]]);
  }

  // Once to count, once to fill: rows come in order, so each list ends up sorted by row.
  out->first.assign(used.size() + 1, 0);
  std::vector<std::uint32_t> sorted;
  const auto for_each_count = [&](const auto& visit) {
    for (std::uint32_t row = 0; row < order.size(); ++row) {
      const auto ids = terms_of(order[row]);
      sorted.clear();
      for (const std::uint32_t id : ids) sorted.push_back(place[id]);
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < sorted.size();) {
        std::size_t end = i;
        while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
        visit(row, sorted[i], static_cast<std::uint32_t>(end - i));
        i = end;
      }
    }
  };
  for_each_count([&](std::uint32_t, std::uint32_t term, std::uint32_t) { ++out->first[term + 1]; });
  for (std::size_t t = 0; t < used.size(); ++t) out->first[t + 1] += out->first[t];
  out->postings.resize(out->first.back());
  std::vector<std::uint32_t> next(out->first.begin(), out->first.end() - 1);
  for_each_count([&](std::uint32_t row, std::uint32_t term, std::uint32_t count) { out->postings[next[term]++] = posting_of(row, count); });
  out->lengths.reserve(order.size());
  for (const std::uint32_t i : order) out->lengths.push_back(static_cast<std::uint32_t>(terms_of(i).size()));
  return out;
}

namespace {

/// Where the rows of the parts go: renumbered[part][row] is the new row, or kDropped.
struct RowPlan {
  static constexpr std::uint32_t kDropped = std::numeric_limits<std::uint32_t>::max();
  std::vector<ann::Row> rows;
  std::vector<std::uint32_t> lengths;
  std::vector<std::vector<std::uint32_t>> renumbered;
};

RowPlan plan_rows(std::span<const Segment* const> parts, std::int64_t died_until) {
  RowPlan plan;
  plan.renumbered.resize(parts.size());
  std::vector<ann::Row> all;
  std::vector<std::pair<std::size_t, std::size_t>> origin;  // part, row
  for (std::size_t p = 0; p < parts.size(); ++p) {
    plan.renumbered[p].assign(parts[p]->rows.size(), RowPlan::kDropped);
    for (std::size_t r = 0; r < parts[p]->rows.size(); ++r) {
      if (parts[p]->rows.died(r) <= died_until) continue;
      all.push_back(parts[p]->rows.row(r));
      origin.emplace_back(p, r);
    }
  }
  for (const std::uint32_t i : ann::sorted_order(all)) {
    const auto [p, r] = origin[i];
    plan.renumbered[p][r] = static_cast<std::uint32_t>(plan.rows.size());
    plan.rows.push_back(all[i]);
    plan.lengths.push_back(parts[p]->lengths[r]);
  }
  return plan;
}

}  // namespace

std::shared_ptr<Segment> combine(std::span<const Segment* const> parts, std::int64_t died_until) {
  RowPlan plan = plan_rows(parts, died_until);
  if (plan.rows.empty()) return nullptr;
  auto out = std::make_shared<Segment>(plan.rows);
  out->lengths = std::move(plan.lengths);
  out->first.push_back(0);
  std::vector<std::size_t> cursor(parts.size(), 0);
  while (true) {
    const std::string_view* least = nullptr;
    std::vector<std::string_view> heads(parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (cursor[p] == parts[p]->terms.size()) continue;
      heads[p] = parts[p]->terms[cursor[p]];
      if (least == nullptr || heads[p] < *least) least = &heads[p];
    }
    if (least == nullptr) break;
    const std::string_view term = *least;
    const std::size_t begin = out->postings.size();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (cursor[p] == parts[p]->terms.size() || heads[p] != term) continue;
      for (const Posting posting : parts[p]->postings_of(cursor[p])) {
        const std::uint32_t row = plan.renumbered[p][row_of(posting)];
        if (row != RowPlan::kDropped) out->postings.push_back(posting_of(row, count_of(posting)));
      }
      ++cursor[p];
    }
    if (out->postings.size() == begin) continue;  // Only rows that went had it.
    // Each part's rows keep their order, and mostly a later part's come after an earlier one's.
    const auto list = out->postings.begin() + static_cast<std::ptrdiff_t>(begin);
    if (!std::is_sorted(list, out->postings.end())) std::sort(list, out->postings.end());
    out->terms.append(term);
    out->first.push_back(static_cast<std::uint32_t>(out->postings.size()));
  }
  return out;
}

}  // namespace footnote::bm25
