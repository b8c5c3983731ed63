#include "engine/bm25/bm25_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/bm25/segment_stream.h"

namespace footnote::bm25 {
namespace {

using ann::Death;
using ann::RowTable;

double idf_of(std::uint64_t rows, std::uint64_t holding) {
  const auto all = static_cast<double>(rows);
  const auto some = static_cast<double>(holding);
  return std::log(1.0 + (all - some + 0.5) / (some + 0.5));
}

}  // namespace

bool Bm25Index::end_row(const Death& death) {
  for (const auto& segment : segments_) {
    const std::size_t row = segment->rows.end(death);
    if (row == RowTable::kNone) continue;
    living_.rows -= 1;
    living_.length -= segment->lengths[row];
    changed_last_ = std::max(changed_last_, death.died);
    return true;
  }
  return false;
}

void Bm25Index::apply(const Batch& added, std::span<const Death> ended) {
  // A row that was there before goes first, so that a label may end and begin anew in one step.
  std::vector<Death> open;
  for (const Death& death : ended) {
    if (!end_row(death)) open.push_back(death);
  }
  const auto order = ann::sorted_order(added.rows());
  for (std::size_t begin = 0; begin < order.size(); begin += kSegmentRowsMax) {
    auto fresh = added.build(std::span(order).subspan(begin, std::min(kSegmentRowsMax, order.size() - begin)));
    living_.rows += fresh->rows.size();
    for (const std::uint32_t length : fresh->lengths) living_.length += length;
    ann::append_tiered(segments_, std::move(fresh), kSegmentRowsMax, [](const Segment& older, const Segment& newer) {
      const Segment* parts[] = {&older, &newer};
      return combine(parts, std::numeric_limits<std::int64_t>::min());
    });
  }
  for (const ann::Row& row : added.rows()) changed_last_ = std::max(changed_last_, row.born);
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
      out.length += segment->lengths[i];
    }
  }
  return out;
}

std::size_t Bm25Index::document_frequency(std::string_view term, std::int64_t generation) const {
  std::size_t count = 0;
  for (const auto& segment : segments_) {
    const std::size_t t = segment->terms.find(term);
    if (t == TermTable::kNone) continue;
    const auto postings = segment->postings_of(t);
    if (segment->rows.all_alive_at(generation)) {
      count += postings.size();
      continue;
    }
    for (const Posting posting : postings) count += segment->rows.alive_at(row_of(posting), generation);
  }
  return count;
}

void Bm25Index::scan(const Segment& segment, std::span<const WeighedTerm> terms, float mean_length, const Bm25Query& query,
                     ann::TopK& top) const {
  std::vector<float> scores;
  const float constant = options_.k1 * (1 - options_.b);
  const float slope = options_.k1 * options_.b / mean_length;
  for (const WeighedTerm& term : terms) {
    const std::size_t t = segment.terms.find(term.text);
    if (t == TermTable::kNone) continue;
    if (scores.empty()) scores.assign(segment.rows.size(), 0.0F);
    for (const Posting posting : segment.postings_of(t)) {
      const std::uint32_t row = row_of(posting);
      const auto count = static_cast<float>(count_of(posting));
      scores[row] += term.weight * count / (count + constant + slope * static_cast<float>(segment.lengths[row]));
    }
  }
  if (scores.empty()) return;
  const bool all = query.filter.passes_all() && segment.rows.all_alive_at(query.generation);
  std::vector<std::uint8_t> visible;
  if (!all) segment.rows.mark_visible(query.generation, query.filter, visible);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    // Every term adds something, so 0 means that none is there.
    if (scores[i] > 0 && scores[i] >= top.floor() && (all || visible[i])) top.offer(segment.rows.label(i), scores[i]);
  }
}

std::vector<ann::ScoredLabel> Bm25Index::search(const Bm25Query& query) const {
  const Statistics statistics = statistics_at(query.generation);
  if (statistics.rows == 0 || query.limit == 0) return {};
  std::vector<WeighedTerm> terms;
  for (const QueryTerm& term : query.terms) {
    const std::size_t holding = document_frequency(term.text, query.generation);
    if (holding == 0) continue;
    terms.push_back({term.text, term.weight * static_cast<float>(idf_of(statistics.rows, holding))});
  }
  const float mean_length = static_cast<float>(statistics.length) / static_cast<float>(statistics.rows);
  ann::TopK top(query.limit);
  for (const auto& segment : segments_) scan(*segment, terms, mean_length, query, top);
  return top.take();
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
    std::vector<std::vector<std::size_t>> places(words.size());
    for (std::size_t w = 0; w < words.size(); ++w) {
      for (const std::string& term : words[w]) {
        const std::size_t t = segment->terms.find(term);
        if (t != TermTable::kNone) places[w].push_back(t);
      }
    }
    for (std::size_t l = 0; l < labels.size(); ++l) {
      const std::size_t row = segment->rows.find(labels[l], generation);
      if (row == RowTable::kNone) continue;
      double found = 0;
      for (std::size_t w = 0; w < words.size(); ++w) {
        const bool held = std::any_of(places[w].begin(), places[w].end(), [&](std::size_t t) { return segment->holds(row, t); });
        if (held) found += weights[w];
      }
      out[l] = found / total;
    }
  }
  return out;
}

Result<void> Bm25Index::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(segments_.size())));
  for (const auto& segment : segments_) FOOTNOTE_CHECK(write_segment(sink, *segment));
  return {};
}

Result<Bm25Index> Bm25Index::load(ByteSource& source, ann::RowLimits limits, Bm25Options options) {
  limits.rows_max = kSegmentRowsMax;
  Bm25Index index(options);
  FOOTNOTE_TRY(const auto segments, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < segments; ++i) {
    FOOTNOTE_TRY(auto segment, read_segment(source, limits));
    index.living_.rows += segment->rows.size();
    for (const std::uint32_t length : segment->lengths) index.living_.length += length;
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

void Bm25Index::mark_groups(ann::GroupMask& used) const {
  for (const auto& segment : segments_) {
    for (std::size_t i = 0; i < segment->rows.size(); ++i) used[segment->rows.group(i)] = 1;
  }
}

std::size_t Bm25Index::row_count() const {
  std::size_t count = 0;
  for (const auto& segment : segments_) count += segment->rows.size();
  return count;
}

}  // namespace footnote::bm25
