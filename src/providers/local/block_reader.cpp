#include "providers/local/block_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "providers/local/question_form.h"

namespace footnote {

namespace {

/// Assumed if it is unknown how many passages were searched.
constexpr std::size_t kSearchedTypical = 1000;
/// The coefficients were fitted on corpora of 500 to 6,300 passages; the number of passages is clamped to these limits.
constexpr std::size_t kSearchedMin = 100;
constexpr std::size_t kSearchedMax = 100'000;
/// A passage is read completely: up to this many windows of 320 tokens.
constexpr std::size_t kWindowsMax = nn::PairReader::kWindowsMax;

std::size_t best_part(const nn::PairReading& reading) {
  const auto best = std::ranges::max_element(reading.parts, {}, &nn::PairSpan::margin);
  return static_cast<std::size_t>(best - reading.parts.begin());
}

float best_margin(const nn::PairReading& reading) {
  return reading.parts.empty() ? reading.margin : reading.parts[best_part(reading)].margin;
}

}  // namespace

/// A passage as it was read.
struct BlockReader::Candidate {
  ReadSpan quote;
  float relevance = 0;  ///< Of the whole passage.
  float margin = 0;     ///< Of its best block.
  float alone = 0;      ///< Relevance of the quote without the rest of the passage.
  double rank_score = 0;
  double coverage = 0;
};

/// The best block of a passage, and as much around it as there is room for: of all ranges that fit, the one that holds most of the blocks'
/// likelihood. A list is as good as its best item, so the best block alone would lose the list next to it.
ReadSpan BlockReader::quote(std::size_t passage, const ReaderPassage& text, const nn::PairReading& reading) const {
  const std::size_t best = best_part(reading);
  const auto weight = [&](std::size_t block) {
    return std::exp((reading.parts[block].margin - reading.parts[best].margin) / options_.quote_spread);
  };
  const auto fits = [&](std::size_t from, std::size_t to) {
    return text.blocks[to].end - text.blocks[from].begin <= options_.quote_bytes_max;
  };
  // Blocks separated by a heading are not joined.
  const auto touch = [&](std::size_t left) {
    const std::size_t end = text.blocks[left].end;
    return trim(text.text.substr(end, text.blocks[left + 1].begin - end)).empty();
  };
  TextRange range = text.blocks[best];
  double most = 1;
  double before = 0;  // weights from `first` up to the best block
  for (std::size_t first = best;; --first) {
    double all = before + 1;
    for (std::size_t last = best; last == first || fits(first, last);) {
      const TextRange wider{text.blocks[first].begin, text.blocks[last].end};
      if (all > most || (all == most && wider.size() > range.size())) {
        most = all;
        range = wider;
      }
      if (last + 1 == text.blocks.size() || !touch(last)) break;
      all += weight(++last);
    }
    if (first == 0 || !touch(first - 1) || !fits(first - 1, best)) break;
    before += weight(first - 1);
  }
  ReadSpan out{.passage = passage, .range = range};
  const nn::PairSpan& span = reading.parts[best];
  if (span.span.begin < span.span.end) out.answer = TextRange{span.span.begin, span.span.end};
  return out;
}

double BlockReader::place(const Candidate& candidate) const { return candidate.alone + options_.rank_weight * candidate.rank_score; }

/// Reads the quotes of the first candidates once more, without what stands around them in their passages: what is shown must answer by
/// itself.
Result<void> BlockReader::read_alone(const CallContext& call, std::string_view question, std::span<const ReaderPassage> passages,
                                     std::span<Candidate> first) const {
  std::vector<nn::PairText> texts;
  std::vector<Candidate*> read;
  for (Candidate& candidate : first) {
    const ReaderPassage& passage = passages[candidate.quote.passage];
    const TextRange& range = candidate.quote.range;
    if (static_cast<double>(range.size()) >= options_.whole_share_min * static_cast<double>(passage.text.size())) continue;
    texts.push_back({passage.text.substr(range.begin, range.size()), passage.header, {}});
    read.push_back(&candidate);
  }
  if (texts.empty()) return {};
  FOOTNOTE_TRY(const auto readings, model_->read(call, question, texts, {.windows_max = kWindowsMax}));
  for (std::size_t i = 0; i < read.size(); ++i) read[i]->alone = readings[i].relevance;
  return {};
}

double BlockReader::probability(const ReaderQuestion& question, std::span<const Candidate> candidates) const {
  float margin = candidates.front().margin;
  float relevance = candidates.front().relevance;
  for (const Candidate& candidate : candidates) {
    margin = std::max(margin, candidate.margin);
    relevance = std::max(relevance, candidate.relevance);
  }
  const double evidence = options_.margin * margin + options_.relevance * relevance + options_.coverage * candidates.front().coverage;
  const std::size_t known = question.searched == 0 ? kSearchedTypical : question.searched;
  const auto searched = static_cast<double>(std::clamp(known, kSearchedMin, kSearchedMax));
  return 1 / (1 + std::exp(-(evidence + options_.searched * std::log10(searched) + options_.constant)));
}

Result<Reading> BlockReader::read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) {
  FOOTNOTE_CHECK(call.check());
  std::vector<std::vector<nn::ByteRange>> parts;
  for (const ReaderPassage& passage : passages) {
    auto& blocks = parts.emplace_back();
    blocks.reserve(passage.blocks.size());
    for (const TextRange& block : passage.blocks) {
      blocks.push_back({static_cast<std::uint32_t>(block.begin), static_cast<std::uint32_t>(block.end)});
    }
  }
  std::vector<nn::PairText> texts;
  texts.reserve(passages.size());
  for (std::size_t i = 0; i < passages.size(); ++i) texts.push_back({passages[i].text, passages[i].header, parts[i]});
  FOOTNOTE_TRY(const auto readings, model_->read(call, question.text, texts, {.windows_max = kWindowsMax}));

  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    if (passages[i].blocks.empty()) continue;
    candidates.push_back({.quote = quote(i, passages[i], readings[i]),
                          .relevance = readings[i].relevance,
                          .margin = best_margin(readings[i]),
                          .alone = readings[i].relevance,
                          .rank_score = passages[i].rank_score,
                          .coverage = passages[i].coverage});
  }
  if (candidates.empty()) return Reading{};
  const auto by_place = [this](const Candidate& candidate) { return place(candidate); };
  std::ranges::stable_sort(candidates, std::ranges::greater{}, by_place);
  Reading out{.spans = {}, .probability = probability(question, candidates)};
  if (*out.probability < options_.likely_min) return out;
  const std::span first_few = std::span(candidates).first(std::min(options_.alone_max, candidates.size()));
  FOOTNOTE_CHECK(read_alone(call, question.text, passages, first_few));
  std::ranges::stable_sort(first_few, std::ranges::greater{}, by_place);
  out.probability = probability(question, candidates);
  for (const Candidate& candidate : candidates) {
    const double below = place(candidates.front()) - place(candidate);
    if (out.spans.size() == options_.spans_max || below > options_.below_best_max) break;
    out.spans.push_back(candidate.quote);
    out.spans.back().score = *out.probability * std::exp(-below / options_.below_best_max);
  }
  ReadSpan& first = out.spans.front();
  first.answers_alone = first.answer && first.answer->size() <= options_.answer_bytes_max && asks_for_words(question.text) &&
                        candidates.front().margin >= options_.answer_margin_min && 2 * first.answer->size() <= first.range.size();
  return out;
}

}  // namespace footnote
