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

/// A passage's best block, extended by its neighbours as long as there is room; the better neighbour is added first.
ReadSpan BlockReader::quote(std::size_t passage, const ReaderPassage& text, const nn::PairReading& reading) const {
  const std::size_t best = best_part(reading);
  const nn::PairSpan& span = reading.parts[best];
  std::size_t first = best;
  std::size_t last = best;
  const auto fits = [&](std::size_t from, std::size_t to) {
    return text.blocks[to].end - text.blocks[from].begin <= options_.quote_bytes_max;
  };
  // Blocks separated by a heading are not joined.
  const auto touch = [&](std::size_t left) {
    const std::size_t end = text.blocks[left].end;
    return trim(text.text.substr(end, text.blocks[left + 1].begin - end)).empty();
  };
  for (;;) {
    const bool before = first > 0 && fits(first - 1, last) && touch(first - 1);
    const bool after = last + 1 < text.blocks.size() && fits(first, last + 1) && touch(last);
    if (!before && !after) break;
    if (after && (!before || reading.parts[last + 1].margin >= reading.parts[first - 1].margin)) {
      ++last;
    } else {
      --first;
    }
  }
  ReadSpan out{.passage = passage, .range = {text.blocks[first].begin, text.blocks[last].end}};
  if (span.span.begin < span.span.end) out.answer = TextRange{span.span.begin, span.span.end};
  return out;
}

double BlockReader::probability(const ReaderQuestion& question, std::span<const ReaderPassage> passages,
                                std::span<const nn::PairReading> readings, std::size_t best) const {
  float margin = best_margin(readings[best]);
  float relevance = readings[best].relevance;
  for (const nn::PairReading& reading : readings) {
    margin = std::max(margin, best_margin(reading));
    relevance = std::max(relevance, reading.relevance);
  }
  const double evidence = options_.margin * margin + options_.relevance * relevance + options_.coverage * passages[best].coverage;
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

  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    if (!passages[i].blocks.empty()) order.push_back(i);
  }
  if (order.empty()) return Reading{};
  const auto place = [&](std::size_t i) { return readings[i].relevance + options_.rank_weight * passages[i].rank_score; };
  std::ranges::stable_sort(order, std::ranges::greater{}, place);
  Reading out{.spans = {}, .probability = probability(question, passages, readings, order.front())};
  if (*out.probability < options_.likely_min) return out;
  for (const std::size_t i : order) {
    const double below = place(order.front()) - place(i);
    if (out.spans.size() == options_.spans_max || below > options_.below_best_max) break;
    out.spans.push_back(quote(i, passages[i], readings[i]));
    out.spans.back().score = *out.probability * std::exp(-below / options_.below_best_max);
  }
  ReadSpan& first = out.spans.front();
  first.answers_alone = first.answer && first.answer->size() <= options_.answer_bytes_max && asks_for_words(question.text) &&
                        best_margin(readings[first.passage]) >= options_.answer_margin_min &&
                        2 * first.answer->size() <= first.range.size();
  return out;
}

}  // namespace footnote
