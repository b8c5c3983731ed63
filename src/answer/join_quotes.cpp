#include "answer/join_quotes.h"

#include <algorithm>
#include <optional>
#include <string>

namespace footnote::answer {

namespace {

/// Blank characters between two passages of a document that belong to neither.
constexpr std::size_t kGapMax = 4;

TextRange in_document(const ReadSpan& span, const Chunk& chunk) {
  return {chunk.range.begin + span.range.begin, chunk.range.begin + span.range.end};
}

bool near(const TextRange& a, const TextRange& b) { return std::max(a.begin, b.begin) <= std::min(a.end, b.end) + kGapMax; }

/// The places of two adjacent passages, for their joined text.
Places united_places(const Chunk& first, const Chunk& second) {
  Places out = first.places;
  if (second.places.marks.empty() || second.range.end <= first.range.end) return out;
  const std::size_t end = first.range.size();
  const std::size_t shift = second.range.begin - first.range.begin;
  const std::size_t from = std::max(end, shift);
  out.marks.push_back({static_cast<std::uint32_t>(from), place_in(second, from - shift)});
  for (const PlaceMark& mark : second.places.marks) {
    if (mark.offset + shift > from) out.marks.push_back({static_cast<std::uint32_t>(mark.offset + shift), mark.number});
  }
  return out;
}

/// The passage that both make up; none if they are not adjacent. The texts of chunks are those of their ranges in the document.
std::optional<Chunk> united(const Chunk& a, const Chunk& b) {
  const bool same = a.document == b.document && a.document_version == b.document_version;
  const bool exact = a.text.size() == a.range.size() && b.text.size() == b.range.size();
  if (!same || !exact || !near(a.range, b.range)) return std::nullopt;
  const Chunk& first = a.range.begin <= b.range.begin ? a : b;
  const Chunk& second = &first == &a ? b : a;
  Chunk out = a;
  out.heading_path = first.heading_path;
  out.text = first.text;
  if (second.range.begin > first.range.end) out.text.append(second.range.begin - first.range.end, '\n');
  if (second.range.end > first.range.end) {
    out.text += second.text.substr(first.range.end - std::min(first.range.end, second.range.begin));
  }
  out.range = {first.range.begin, std::max(first.range.end, second.range.end)};
  out.first_line = first.first_line;
  out.last_line = std::max(first.last_line, second.last_line);
  out.places = united_places(first, second);
  return out;
}

/// Joins `next` to `quote`, if they touch.
bool join(ReadSpan& quote, const ReadSpan& next, std::vector<SourceBlock>& blocks) {
  Chunk& chunk = blocks[quote.passage].hit.chunk;
  const Chunk& other = blocks[next.passage].hit.chunk;
  const TextRange a = in_document(quote, chunk);
  const TextRange b = in_document(next, other);
  const TextRange both{std::min(a.begin, b.begin), std::max(a.end, b.end)};
  if (!near(a, b) || both.size() > kJoinedBytesMax) return false;
  std::optional<Chunk> whole = united(chunk, other);
  if (!whole) return false;
  const std::size_t moved = chunk.range.begin - whole->range.begin;
  chunk = *std::move(whole);
  quote.range = {both.begin - chunk.range.begin, both.end - chunk.range.begin};
  if (quote.answer) quote.answer = TextRange{quote.answer->begin + moved, quote.answer->end + moved};
  return true;
}

}  // namespace

Reading join_quotes(Reading reading, std::vector<SourceBlock>& blocks) {
  std::vector<ReadSpan> kept;
  for (const ReadSpan& next : reading.spans) {
    const bool joined = std::ranges::any_of(kept, [&](ReadSpan& quote) { return join(quote, next, blocks); });
    if (!joined && kept.size() < kQuotesMax) kept.push_back(next);
  }
  reading.spans = std::move(kept);
  return reading;
}

}  // namespace footnote::answer
