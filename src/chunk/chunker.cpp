#include "chunk/chunker.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "chunk/lines.h"
#include "chunk/packer.h"
#include "chunk/units.h"

namespace footnote::chunk {

namespace {

std::string content_hash(const std::vector<std::string>& path, std::string_view text) {
  Sha256 hash;
  for (const std::string& heading : path) hash.update(heading).update("\x1F");
  return hash.update("\n").update(fold_spaces(text)).hex();
}

ChunkOptions checked(ChunkOptions options) {
  options.max_bytes = std::max<std::size_t>({options.max_bytes, 16, options.target_bytes});
  options.target_bytes = std::max<std::size_t>(options.target_bytes, 1);
  return options;
}

/// The place of a byte. Avoids counting the line ends before it again for each passage.
int place_of(const Places& places, const LineIndex& lines, std::size_t offset) {
  const auto after = std::ranges::upper_bound(places.marks, offset, {}, &PlaceMark::offset);
  if (after == places.marks.begin()) return places.unit == PlaceUnit::kLine ? lines.line_of(offset) : 1;
  const PlaceMark& mark = *std::prev(after);
  return places.unit == PlaceUnit::kLine ? mark.number + lines.line_of(offset) - lines.line_of(mark.offset) : mark.number;
}

/// The marks inside the range, and one for its begin.
Places places_of(const Places& places, const LineIndex& lines, TextRange range) {
  Places out{places.unit, {}};
  if (places.marks.empty()) return out;
  out.marks.push_back({0, place_of(places, lines, range.begin)});
  auto mark = std::ranges::upper_bound(places.marks, range.begin, {}, &PlaceMark::offset);
  for (; mark != places.marks.end() && mark->offset < range.end; ++mark) {
    out.marks.push_back({static_cast<std::uint32_t>(mark->offset - range.begin), mark->number});
  }
  return out;
}

Piece piece_of(const ParsedDocument& document, const LineIndex& lines, TextRange range, std::vector<std::string> heading_path) {
  Piece piece;
  piece.range = range;
  piece.text = document.text.substr(range.begin, range.size());
  piece.heading_path = std::move(heading_path);
  piece.source_type = "doc";
  piece.content_hash = content_hash(piece.heading_path, piece.text);
  piece.first_line = place_of(document.places, lines, range.begin);
  // The text of a page need not be in file order: its main heading may come later in the file.
  piece.last_line = std::max(piece.first_line, place_of(document.places, lines, range.end - 1));
  piece.places = places_of(document.places, lines, range);
  return piece;
}

/// The offset `count` characters after `offset`, or the text's end.
std::size_t skip_chars(std::string_view text, std::size_t offset, std::size_t count) {
  return offset + first_code_points(text.substr(offset), count).size();
}

std::vector<Piece> windows_of(const ParsedDocument& document) {
  const std::string_view text = document.text;
  const LineIndex lines(text, document.first_line);
  std::vector<Piece> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t next = skip_chars(text, begin, kWindowChars - kWindowOverlapChars);
    const TextRange range{begin, skip_chars(text, next, kWindowOverlapChars)};
    if (trimmed(text, range).size() != 0) out.push_back(piece_of(document, lines, range, {}));
    if (range.end == text.size()) break;  // the next window would only repeat this one
    begin = next;
  }
  return out;
}

}  // namespace

std::vector<Piece> chunk_document(const ParsedDocument& document, const ChunkOptions& given) {
  if (given.cut == Cut::kWindows) return windows_of(document);
  const ChunkOptions options = checked(given);
  const Outline outline = make_outline(document, options.max_bytes);
  const LineIndex lines(document.text, document.first_line);
  std::vector<Piece> out;
  for (const PackedChunk& packed : pack(outline, options)) {
    out.push_back(piece_of(document, lines, packed.range, outline.path_of(packed.section)));
  }
  return out;
}

std::string embedding_text(const Piece& piece) {
  if (piece.heading_path.empty()) return piece.text;
  return join(piece.heading_path, " > ") + "\n" + piece.text;
}

}  // namespace footnote::chunk
