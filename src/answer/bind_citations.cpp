#include "answer/bind_citations.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "chunk/sentences.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// Minimum share of common words for a source sentence to be singled out.
constexpr double kSharedWordsMin = 0.3;

bool has_words(std::string_view text) {
  bool in_marker = false;
  for (char c : text) {
    if (c == '[') in_marker = true;
    if (!in_marker && (std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80)) return true;
    if (c == ']') in_marker = false;
  }
  return false;
}

TextRange sentence_of(const Marker& marker, std::string_view text, const std::vector<TextRange>& sentences) {
  std::size_t i = 0;
  while (i + 1 < sentences.size() && sentences[i + 1].begin <= marker.offset) ++i;
  while (i > 0 && !has_words(text.substr(sentences[i].begin, marker.offset - sentences[i].begin))) --i;
  return sentences[i];
}

std::optional<TextRange> best_support(std::string_view claim, const Chunk& chunk) {
  const std::vector<std::string> wanted = retrieve::content_words(claim);
  std::optional<TextRange> best;
  double best_share = kSharedWordsMin;
  for (const TextRange& sentence : chunk::split_sentences(chunk.text)) {
    const auto words = retrieve::content_words(std::string_view(chunk.text).substr(sentence.begin, sentence.size()));
    const double share = retrieve::share_of(wanted, words);
    if (share > best_share) {
      best_share = share;
      best = TextRange{chunk.range.begin + sentence.begin, chunk.range.begin + sentence.end};
    }
  }
  return best;
}

}  // namespace

std::vector<Citation> bind_citations(std::string_view answer_text, std::span<const Marker> markers, std::span<const SourceBlock> sources) {
  const std::vector<TextRange> sentences = chunk::split_sentences(answer_text);
  std::vector<Citation> out;
  for (const Marker& marker : markers) {
    const auto block = std::ranges::find(sources, marker.number, &SourceBlock::number);
    if (block == sources.end() || sentences.empty()) continue;
    const Chunk& chunk = block->hit.chunk;
    const TextRange sentence = sentence_of(marker, answer_text, sentences);
    out.push_back({.number = marker.number,
                   .document = chunk.document,
                   .document_version = chunk.document_version,
                   .chunk = chunk.id,
                   .answer_range = sentence,
                   .support_range = best_support(answer_text.substr(sentence.begin, sentence.size()), chunk)});
  }
  return out;
}

}  // namespace footnote::answer
