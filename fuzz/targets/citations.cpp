// A model's text as it streams: any slicing shows the same text, little is held back, no marker names a missing source, and every citation
// refers to existing characters.
#include "answer/bind_citations.h"
#include "answer/citation_filter.h"
#include "answer/quote.h"
#include "base/utf8.h"
#include "chunk/sentences.h"
#include "target.h"

namespace footnote {
namespace {

constexpr int kSources = 4;

void check_filter(std::string_view text, const answer::CitationFilter& whole, const std::string& shown) {
  answer::CitationFilter sliced(kSources);
  std::string out;
  std::size_t fed = 0;
  for (const std::string_view piece : fuzz::random_pieces(text)) {
    out += sliced.feed(piece);
    fed += piece.size();
    // Dropped markers make the output shorter, so check the limit only if there are none to drop.
    if (text.find(']') == std::string_view::npos) FOOTNOTE_ASSERT(fed - out.size() <= answer::CitationFilter::kHeldBytesMax);
  }
  out += sliced.finish();
  FOOTNOTE_ASSERT(out == shown && shown == whole.text() && sliced.text() == shown);
  // "[1-4]" is the shortest text that grows.
  FOOTNOTE_ASSERT(shown.size() <= 3 * text.size());
  std::size_t last = 0;
  for (const answer::Marker& marker : whole.markers()) {
    FOOTNOTE_ASSERT(marker.number >= 1 && marker.number <= kSources && marker.offset >= last);
    FOOTNOTE_ASSERT(shown.substr(marker.offset, 3) == "[" + std::to_string(marker.number) + "]");
    last = marker.offset + 3;
  }
}

/// Nothing is added to a quote: it is a subsequence of its source, except for white space.
void check_quote(std::string_view source) {
  const std::string quote = answer::plain_quote(source);
  FOOTNOTE_ASSERT(is_valid_utf8(quote) && quote.find('\n') == std::string::npos);
  std::size_t at = 0;
  for (const char c : quote) {
    if (c == ' ') continue;
    at = source.find(c, at);
    FOOTNOTE_ASSERT(at != std::string_view::npos);
    ++at;
  }
}

std::vector<SourceBlock> sources_of(std::string_view text) {
  std::vector<SourceBlock> out;
  for (int number = 1; number <= kSources; ++number) {
    SourceBlock block{number, {}};
    block.hit.chunk.text = std::string(utf8_prefix(text, text.size() / static_cast<std::size_t>(number)));
    block.hit.chunk.range = {100, 100 + block.hit.chunk.text.size()};
    out.push_back(std::move(block));
  }
  return out;
}

void check_bound(const std::string& shown, const answer::CitationFilter& filter, const std::vector<SourceBlock>& sources) {
  for (const Citation& citation : answer::bind_citations(shown, filter.markers(), sources)) {
    FOOTNOTE_ASSERT(citation.answer_range.begin < citation.answer_range.end && citation.answer_range.end <= shown.size());
    const TextRange& source = sources[static_cast<std::size_t>(citation.number - 1)].hit.chunk.range;
    if (!citation.support_range) continue;
    FOOTNOTE_ASSERT(citation.support_range->begin >= source.begin && citation.support_range->end <= source.end);
    FOOTNOTE_ASSERT(citation.support_range->size() > 0);
  }
}

void check_composed(const std::vector<SourceBlock>& sources) {
  Reading reading;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const TextRange& sentence : chunk::split_sentences(sources[i].hit.chunk.text)) reading.spans.push_back({i, sentence, 1});
  }
  if (reading.spans.size() > 64) reading.spans.resize(64);
  const answer::QuotedAnswer answer = answer::compose_quotes(reading, sources);
  std::string text;
  for (const std::string& piece : answer.pieces) text += piece;
  FOOTNOTE_ASSERT(is_valid_utf8(text) && answer.pieces.size() == answer.citations.size());
  for (const Citation& citation : answer.citations) {
    FOOTNOTE_ASSERT(citation.answer_range.end <= text.size());
    const std::string_view told = std::string_view(text).substr(citation.answer_range.begin, citation.answer_range.size());
    FOOTNOTE_ASSERT(told.ends_with("[" + std::to_string(citation.number) + "]"));
  }
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > 4096) return 0;  // an answer of 800 tokens; binding compares each claim with each sentence
  const std::string text = repair_utf8(fuzz::as_text(data, size));
  answer::CitationFilter whole(kSources);
  std::string shown = whole.feed(text);
  shown += whole.finish();
  check_filter(text, whole, shown);
  FOOTNOTE_ASSERT(is_valid_utf8(shown));
  check_quote(text);
  const std::vector<SourceBlock> sources = sources_of(text);
  check_bound(shown, whole, sources);
  check_composed(sources);
  return 0;
}
