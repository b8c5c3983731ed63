#include "answer/bind_citations.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "chunk/sentences.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// Minimum share of common words for a source sentence to be singled out.
constexpr double kSharedWordsMin = 0.3;

/// The first bytes of a longer claim are compared with the source.
constexpr std::size_t kClaimBytesMax = 2'000;

/// Where the first word outside brackets begins; the text's size if there is none.
std::size_t first_word(std::string_view text) {
  bool in_marker = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '[') in_marker = true;
    if (!in_marker && (std::isalnum(c) || c >= 0x80)) return i;
    if (c == ']') in_marker = false;
  }
  return text.size();
}

/// The sentences of an answer, and which of them a marker belongs to.
class Sentences {
 public:
  explicit Sentences(std::string_view text) : ranges_(chunk::split_sentences(text)) {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const std::string_view sentence = text.substr(ranges_[i].begin, ranges_[i].size());
      const std::size_t word = first_word(sentence);
      words_.push_back(ranges_[i].begin + word);
      const bool has_words = word < sentence.size();
      last_with_words_.push_back(has_words || i == 0 ? i : last_with_words_.back());
    }
  }

  bool empty() const { return ranges_.empty(); }
  TextRange operator[](std::size_t index) const { return ranges_[index]; }

  std::size_t of(const Marker& marker) const {
    const auto after = std::ranges::upper_bound(ranges_, marker.offset, {}, &TextRange::begin);
    const std::size_t at = after == ranges_.begin() ? 0 : static_cast<std::size_t>(after - ranges_.begin()) - 1;
    if (at == 0 || words_[at] < marker.offset) return at;
    return last_with_words_[at - 1];
  }

 private:
  std::vector<TextRange> ranges_;
  std::vector<std::size_t> words_;            ///< Per sentence: where its first word begins.
  std::vector<std::size_t> last_with_words_;  ///< Per sentence: the last one up to it that has words.
};

std::optional<TextRange> best_support(std::string_view claim, const Chunk& chunk) {
  const std::vector<std::string> wanted = retrieve::content_words(utf8_prefix(claim, kClaimBytesMax));
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
  const Sentences sentences(answer_text);
  std::map<std::pair<std::size_t, int>, std::optional<TextRange>> supports;  // by sentence and number
  std::vector<Citation> out;
  for (const Marker& marker : markers) {
    const auto block = std::ranges::find(sources, marker.number, &SourceBlock::number);
    if (block == sources.end() || sentences.empty()) continue;
    const Chunk& chunk = block->hit.chunk;
    const std::size_t index = sentences.of(marker);
    const TextRange sentence = sentences[index];
    const auto [support, is_new] = supports.try_emplace({index, marker.number});
    if (is_new) support->second = best_support(answer_text.substr(sentence.begin, sentence.size()), chunk);
    out.push_back({.number = marker.number,
                   .document = chunk.document,
                   .document_version = chunk.document_version,
                   .chunk = chunk.id,
                   .answer_range = sentence,
                   .support_range = support->second});
  }
  return out;
}

}  // namespace footnote::answer
