#include "chunk/chunker.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
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

}  // namespace

std::vector<Piece> chunk_document(const ParsedDocument& document, const ChunkOptions& given) {
  const ChunkOptions options = checked(given);
  const Outline outline = make_outline(document, options.max_bytes);
  const LineIndex lines(document.text, document.first_line);
  std::vector<Piece> out;
  for (PackedChunk& packed : pack(outline, options)) {
    Piece& piece = out.emplace_back();
    piece.range = packed.range;
    piece.text = document.text.substr(packed.range.begin, packed.range.size());
    piece.heading_path = std::move(packed.heading_path);
    piece.source_type = "doc";
    piece.content_hash = content_hash(piece.heading_path, piece.text);
    piece.first_line = lines.line_of(packed.range.begin);
    piece.last_line = lines.line_of(packed.range.end - 1);
  }
  return out;
}

std::string embedding_text(const Piece& piece) {
  if (piece.heading_path.empty()) return piece.text;
  return join(piece.heading_path, " > ") + "\n" + piece.text;
}

}  // namespace footnote::chunk
