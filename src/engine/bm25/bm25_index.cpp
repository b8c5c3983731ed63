#include "engine/bm25/bm25_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/bm25/phrase_rows.h"
#include "engine/bm25/segment_stream.h"

namespace footnote::bm25 {
namespace {

using rows::Death;
using rows::RowTable;

double idf_of(std::uint64_t rows, std::uint64_t holding) {
  const auto all = static_cast<double>(rows);
  const auto some = static_cast<double>(holding);
  return std::log(1.0 + (all - some + 0.5) / (some + 0.5));
}

/// Limits of merged lists in bytes and of batch slices in terms: offsets in a segment's lists are 32-bit.
constexpr std::size_t kMergedBytesMax = std::size_t{1} << 30;
constexpr std::size_t kSliceTermsMax = std::size_t{1} << 26;

/// From this many rows on, a term's scores are precomputed in a table.
constexpr std::size_t kTabledRows = 1024;

/// The rows of one segment that a query can see.
class Sight {
 public:
  Sight(const Segment& segment, std::int64_t generation, const rows::RowFilter& filter) {
    if (segment.rows.all_alive_at(generation)) {
      if (!filter.passes_all()) segment.rows.mark_visible(generation, filter, visible_);
      return;
    }
    segment.rows.mark_visible(generation, {}, alive_);
    for (std::size_t row = 0; row < alive_.size(); ++row) {
      if (alive_[row] == 0) gone_.push_back(static_cast<std::uint16_t>(row));
    }
    if (filter.passes_all()) {
      visible_ = alive_;
    } else {
      segment.rows.mark_visible(generation, filter, visible_);
    }
  }

  /// One byte per row; empty: all.
  std::span<const std::uint8_t> visible() const { return visible_; }
  bool can_see(std::size_t row) const { return visible_.empty() || visible_[row] != 0; }
  void narrow_to(std::vector<std::uint8_t> rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = rows[row] != 0 && can_see(row);
    visible_ = std::move(rows);
  }

  /// The number of rows of the list that are alive in the generation, whether or not they pass the filter.
  std::size_t count_alive(const PostingList& list) const {
    // A lookup of one dead row costs about as much as counting this many postings.
    constexpr std::size_t kAskingCost = 4;
    if (gone_.size() * kAskingCost < list.size()) {
      ListCursor cursor(list);
      std::size_t count = list.size();
      for (const std::uint16_t row : gone_) count -= cursor.count_at(row) >= 0;
      return count;
    }
    Block block;
    std::size_t count = 0;
    for (std::size_t b = 0; b < list.block_count(); ++b) {
      list.decode(b, block);
      for (std::size_t i = 0; i < block.size; ++i) count += alive_[block.rows[i]] != 0;
    }
    return count;
  }

 private:
  std::vector<std::uint8_t> visible_;
  std::vector<std::uint8_t> alive_;  // Empty when all rows are alive.
  std::vector<std::uint16_t> gone_;
};

/// One query over all segments.
class Search {
 public:
  Search(std::span<const std::shared_ptr<Segment>> segments, const Bm25Query& query) : query_(query) {
    for (const auto& segment : segments) {
      Part part{*segment, Sight(*segment, query.generation, query.filter), {}};
      for (const QueryTerm& term : query.terms) {
        const std::size_t t = segment->terms.find(term.text);
        part.lists.push_back(t == TermTable::kNone ? PostingList() : segment->list(t));
      }
      parts_.push_back(std::move(part));
    }
  }

  std::vector<rows::ScoredLabel> run(const Bm25Options& options, std::uint64_t rows, float mean_length) {
    const std::vector<double> weights = weigh(rows);
    double all = 0;
    for (const double weight : weights) all += weight;
    if (!(all > 0)) return {};
    // A power of two, so that converting between units and scores is exact.
    const int bits = std::ilogb(kQueryUnits / all);
    const Saturation saturation(options, mean_length);
    std::vector<TermScore> scores;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      scores.emplace_back(saturation, static_cast<float>(std::ldexp(weights[t], bits)));
      if (listed(t) >= kTabledRows) scores.back().make_table();
    }
    for (const Phrase& phrase : query_.phrases) demand(phrase);
    TopRows top(query_.limit);
    for (const Part& part : parts_) {
      std::vector<ScanTerm> terms;
      for (std::size_t t = 0; t < scores.size(); ++t) {
        if (part.lists[t].size() > 0 && weights[t] > 0) terms.push_back({part.lists[t], &scores[t]});
      }
      scan_segment(part.segment, terms, part.sight.visible(), static_cast<float>(std::ldexp(1.0, -bits)), query_.pruning, top);
    }
    return top.take();
  }

 private:
  struct Part {
    const Segment& segment;
    Sight sight;
    std::vector<PostingList> lists;  // By query term; empty where the segment does not contain it.
  };

  std::size_t listed(std::size_t term) const {
    std::size_t count = 0;
    for (const Part& part : parts_) count += part.lists[term].size();
    return count;
  }

  /// weight * idf of each term; 0 for terms that no row contains.
  std::vector<double> weigh(std::uint64_t rows) const {
    std::vector<std::size_t> holding(query_.terms.size(), 0);
    std::map<std::uint32_t, std::size_t> groups;
    for (std::size_t t = 0; t < query_.terms.size(); ++t) {
      for (const Part& part : parts_) holding[t] += part.sight.count_alive(part.lists[t]);
      groups[query_.terms[t].group] += holding[t];
    }
    std::vector<double> out;
    for (std::size_t t = 0; t < query_.terms.size(); ++t) {
      const QueryTerm& term = query_.terms[t];
      const std::size_t all = term.group == QueryTerm::kAlone ? holding[t] : std::min<std::size_t>(groups[term.group], rows);
      out.push_back(holding[t] == 0 ? 0 : static_cast<double>(term.weight) * idf_of(rows, all));
    }
    return out;
  }

  /// Restricts the search to the rows that contain the phrase, unless there are none.
  void demand(const Phrase& phrase) {
    std::vector<std::vector<std::uint8_t>> holding;
    bool any = false;
    for (const Part& part : parts_) {
      holding.push_back(rows_with(phrase, part.segment));
      for (std::size_t row = 0; row < holding.back().size() && !any; ++row) any = holding.back()[row] != 0 && part.sight.can_see(row);
    }
    if (!any) return;
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].sight.narrow_to(std::move(holding[i]));
  }

  static std::vector<std::uint8_t> rows_with(const Phrase& phrase, const Segment& segment) {
    std::vector<std::uint8_t> out(segment.rows.size(), 0);
    for (const auto& sequence : phrase) {
      std::vector<PhrasePart> parts;
      for (const PhraseTerm& term : sequence) {
        const std::size_t t = segment.terms.find(term.text);
        if (t == TermTable::kNone) break;
        parts.push_back({segment.list(t), term.offset});
      }
      if (!parts.empty() && parts.size() == sequence.size()) mark_phrase_rows(parts, out);
    }
    return out;
  }

  const Bm25Query& query_;
  std::vector<Part> parts_;
};

}  // namespace

bool Bm25Index::end_row(const Death& death) {
  for (const auto& segment : segments_) {
    const std::size_t row = segment->rows.end(death);
    if (row == RowTable::kNone) continue;
    living_.rows -= 1;
    living_.length -= length_of(segment->lengths[row]);
    changed_last_ = std::max(changed_last_, death.died);
    return true;
  }
  return false;
}

void Bm25Index::append(std::shared_ptr<Segment> fresh) {
  living_.rows += fresh->rows.size();
  living_.length += fresh->total_length();
  segments_.push_back(std::move(fresh));
  // Segment sizes at least halve from one to the next, as in rows::append_tiered; lists have a limit of their own.
  while (segments_.size() >= 2) {
    const Segment& newer = *segments_.back();
    const Segment& older = *segments_[segments_.size() - 2];
    if (older.rows.size() >= 2 * newer.rows.size() || older.rows.size() + newer.rows.size() > kSegmentRowsMax) return;
    if (older.lists.size() + newer.lists.size() > kMergedBytesMax) return;
    const Segment* parts[] = {&older, &newer};
    auto merged = combine(parts, std::numeric_limits<std::int64_t>::min());
    segments_.pop_back();
    segments_.back() = std::move(merged);
  }
}

void Bm25Index::apply(const Batch& added, std::span<const Death> ended) {
  // End existing rows first, so that a label may end and start again in one step.
  std::vector<Death> open;
  for (const Death& death : ended) {
    if (!end_row(death)) open.push_back(death);
  }
  const auto order = rows::sorted_order(added.rows());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    for (std::size_t terms = 0; end < order.size() && end - begin < kSegmentRowsMax && (end == begin || terms < kSliceTermsMax); ++end) {
      terms += added.terms_in(order[end]);
    }
    append(added.build(std::span(order).subspan(begin, end - begin)));
    begin = end;
  }
  for (const rows::Row& row : added.rows()) changed_last_ = std::max(changed_last_, row.born);
  for (const Death& death : open) end_row(death);
}

void Bm25Index::forget(std::int64_t died_until) {
  std::vector<std::shared_ptr<Segment>> kept;
  for (const auto& segment : segments_) {
    if (!segment->rows.any_dead_by(died_until)) {
      kept.push_back(segment);
      continue;
    }
    const Segment* parts[] = {segment.get()};
    if (auto rest = combine(parts, died_until)) kept.push_back(std::move(rest));
  }
  segments_ = std::move(kept);
}

Bm25Index::Statistics Bm25Index::statistics_at(std::int64_t generation) const {
  if (generation >= changed_last_) return living_;
  Statistics out;
  for (const auto& segment : segments_) {
    for (std::size_t i = 0; i < segment->rows.size(); ++i) {
      if (!segment->rows.alive_at(i, generation)) continue;
      out.rows += 1;
      out.length += length_of(segment->lengths[i]);
    }
  }
  return out;
}

std::size_t Bm25Index::document_frequency(std::string_view term, std::int64_t generation) const {
  std::size_t count = 0;
  for (const auto& segment : segments_) {
    const std::size_t t = segment->terms.find(term);
    if (t != TermTable::kNone) count += Sight(*segment, generation, {}).count_alive(segment->list(t));
  }
  return count;
}

std::vector<rows::ScoredLabel> Bm25Index::search(const Bm25Query& query) const {
  const Statistics statistics = statistics_at(query.generation);
  if (statistics.rows == 0 || query.limit == 0) return {};
  const float mean_length = static_cast<float>(statistics.length) / static_cast<float>(statistics.rows);
  return Search(segments_, query).run(options_, statistics.rows, mean_length);
}

std::vector<double> Bm25Index::coverage(std::span<const Alternatives> words, std::int64_t generation,
                                        std::span<const std::int64_t> labels) const {
  const Statistics statistics = statistics_at(generation);
  std::vector<double> weights;
  double total = 0;
  for (const Alternatives& word : words) {
    std::size_t holding = 1;
    for (const std::string& term : word) holding = std::max(holding, document_frequency(term, generation));
    weights.push_back(idf_of(std::max<std::uint64_t>(statistics.rows, 1), holding));
    total += weights.back();
  }
  std::vector<double> out(labels.size(), 0.0);
  if (total <= 0) return out;
  for (const auto& segment : segments_) {
    // Lists are walked in ascending order, so process the labels in the order of their rows.
    std::vector<std::pair<std::uint32_t, std::size_t>> asked;  // (row, index in labels)
    for (std::size_t l = 0; l < labels.size(); ++l) {
      const std::size_t row = segment->rows.find(labels[l], generation);
      if (row != RowTable::kNone) asked.emplace_back(static_cast<std::uint32_t>(row), l);
    }
    std::ranges::sort(asked);
    for (std::size_t w = 0; w < words.size() && !asked.empty(); ++w) {
      std::vector<std::uint8_t> held(asked.size(), 0);
      for (const std::string& term : words[w]) {
        const std::size_t t = segment->terms.find(term);
        if (t == TermTable::kNone) continue;
        ListCursor cursor(segment->list(t));
        for (std::size_t i = 0; i < asked.size(); ++i) held[i] |= cursor.count_at(asked[i].first) >= 0;
      }
      for (std::size_t i = 0; i < asked.size(); ++i) out[asked[i].second] += held[i] ? weights[w] : 0;
    }
  }
  for (double& share : out) share /= total;
  return out;
}

Result<void> Bm25Index::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(segments_.size())));
  for (const auto& segment : segments_) FOOTNOTE_CHECK(write_segment(sink, *segment));
  return {};
}

Result<Bm25Index> Bm25Index::load(ByteSource& source, rows::RowLimits limits, Bm25Options options) {
  limits.rows_max = kSegmentRowsMax;
  Bm25Index index(options);
  FOOTNOTE_TRY(const auto segments, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < segments; ++i) {
    FOOTNOTE_TRY(auto segment, read_segment(source, limits));
    index.living_.rows += segment->rows.size();
    index.living_.length += segment->total_length();
    for (std::size_t row = 0; row < segment->rows.size(); ++row) {
      index.changed_last_ = std::max(index.changed_last_, segment->rows.row(row).born);
    }
    index.segments_.push_back(std::move(segment));
  }
  return index;
}

bool Bm25Index::contains(std::int64_t label, std::int64_t generation) const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [&](const auto& segment) { return segment->rows.find(label, generation) != RowTable::kNone; });
}

void Bm25Index::mark_groups(rows::GroupMask& used) const {
  for (const auto& segment : segments_) {
    for (std::size_t i = 0; i < segment->rows.size(); ++i) used[segment->rows.group(i)] = 1;
  }
}

std::size_t Bm25Index::row_count() const {
  std::size_t count = 0;
  for (const auto& segment : segments_) count += segment->rows.size();
  return count;
}

std::size_t Bm25Index::byte_count() const {
  std::size_t count = 0;
  for (const auto& segment : segments_) {
    count += segment->lengths.size() + segment->terms.text().size() + segment->lists.size() +
             (segment->terms.ends().size() + segment->begins.size()) * sizeof(std::uint32_t);
  }
  return count;
}

}  // namespace footnote::bm25
