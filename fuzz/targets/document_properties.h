#pragma once

#include "base/utf8.h"
#include "chunk/chunker.h"
#include "chunk/lines.h"
#include "chunk/parse.h"
#include "chunk/references.h"
#include "chunk/sentences.h"
#include "target.h"

// Properties of every document, whatever its format.
namespace footnote::fuzz {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool is_range_of(const TextRange& range, std::string_view text) {
  return range.begin <= range.end && range.end <= text.size() && is_utf8_boundary(text, range.begin) && is_utf8_boundary(text, range.end);
}

/// True if every byte of [begin, end) is white space.
inline bool only_spaces(std::string_view text, std::size_t begin, std::size_t end) {
  for (; begin < end; ++begin) {
    if (!is_space(text[begin])) return false;
  }
  return true;
}

/// Blocks are in order, inside the text, and on the lines that they name.
inline void check_blocks(std::string_view text, int first_line, const std::vector<chunk::Block>& blocks) {
  const chunk::LineIndex lines(text, first_line);
  std::size_t last = 0;
  for (const chunk::Block& block : blocks) {
    FOOTNOTE_ASSERT(is_range_of(block.range, text) && block.range.begin >= last);
    FOOTNOTE_ASSERT(block.first_line == lines.line_of(block.range.begin));
    const bool is_heading = block.kind == chunk::BlockKind::kHeading;
    FOOTNOTE_ASSERT(is_heading ? block.level >= 1 && block.level <= 6 : block.level == 0 && block.heading.empty());
    FOOTNOTE_ASSERT(is_valid_utf8(block.heading) && block.heading.find('\n') == std::string::npos);
    last = block.range.end;
  }
}

/// Sentences are in order, disjoint and trimmed, and together cover everything but white space.
inline void check_sentences(std::string_view text) {
  std::size_t last = 0;
  for (const TextRange& sentence : chunk::split_sentences(text)) {
    FOOTNOTE_ASSERT(is_range_of(sentence, text) && sentence.begin >= last && sentence.size() > 0);
    FOOTNOTE_ASSERT(only_spaces(text, last, sentence.begin));
    FOOTNOTE_ASSERT(!is_space(text[sentence.begin]) && !is_space(text[sentence.end - 1]));
    last = sentence.end;
  }
  FOOTNOTE_ASSERT(only_spaces(text, last, text.size()));
}

/// A passage's places are those of its document, in every unit.
inline void check_places(const chunk::ParsedDocument& document, const chunk::Piece& piece) {
  const auto in_document = [&](std::size_t at) { return place_at(document.places, document.text, at, document.first_line); };
  const auto in_piece = [&](std::size_t at) { return place_at(piece.places, piece.text, at - piece.range.begin, piece.first_line); };
  const int last = in_document(piece.range.end - 1);
  FOOTNOTE_ASSERT(piece.first_line == in_document(piece.range.begin) && piece.last_line == std::max(piece.first_line, last));
  FOOTNOTE_ASSERT(piece.first_line == in_piece(piece.range.begin) && last == in_piece(piece.range.end - 1));
}

/// Chunks quote the text, ascend, respect their size limit, and together cover everything but white space.
inline void check_chunks(const chunk::ParsedDocument& document, const chunk::ChunkOptions& options) {
  const std::string_view text = document.text;
  const std::size_t bytes_max = std::max({options.max_bytes, options.target_bytes, std::size_t{16}});
  const auto pieces = chunk::chunk_document(document, options);
  std::size_t begin = 0, covered = 0;
  for (const chunk::Piece& piece : pieces) {
    FOOTNOTE_ASSERT(is_range_of(piece.range, text) && piece.range.size() > 0 && piece.range.size() <= bytes_max);
    FOOTNOTE_ASSERT(text.substr(piece.range.begin, piece.range.size()) == piece.text);
    FOOTNOTE_ASSERT(piece.range.begin >= begin && piece.range.end > covered);
    FOOTNOTE_ASSERT(only_spaces(text, covered, piece.range.begin));
    check_places(document, piece);
    for (const std::string& heading : piece.heading_path) FOOTNOTE_ASSERT(is_valid_utf8(heading));
    begin = piece.range.begin;
    covered = piece.range.end;
  }
  FOOTNOTE_ASSERT(only_spaces(text, covered, text.size()));
}

inline void check_document(const chunk::ParsedDocument& document, const chunk::ChunkOptions& options) {
  FOOTNOTE_ASSERT(is_valid_utf8(document.text) && document.text.find_first_of(std::string_view("\r\0", 2)) == std::string::npos);
  FOOTNOTE_ASSERT(is_valid_utf8(document.attributes.title) && !document.attributes.title.empty());
  FOOTNOTE_ASSERT(document.first_line >= 1 && document.edges.size() <= chunk::kEdgesMax);
  for (const Edge& edge : document.edges) FOOTNOTE_ASSERT(is_valid_utf8(edge.to_key) && is_valid_utf8(edge.from_key));
  for (const std::string& warning : document.warnings) FOOTNOTE_ASSERT(is_valid_utf8(warning));
  check_blocks(document.text, document.first_line, document.blocks);
  check_sentences(document.text);
  check_chunks(document, options);
}

/// The first byte of an input selects the chunk size.
inline chunk::ChunkOptions chunk_options(std::uint8_t choice) {
  constexpr std::size_t kTargets[] = {800, 1, 16, 40, 200, 800, 5000, 0};
  chunk::ChunkOptions options;
  options.target_bytes = kTargets[choice % 8];
  options.max_bytes = options.target_bytes + 16 * (choice / 8 % 8);
  options.overlap_bytes_max = choice / 64 == 0 ? 0 : 240;
  return options;
}

/// Checks a whole document of one format: a choice, then its bytes.
inline void check_format(chunk::Format format, std::string_view key, Input input) {
  const chunk::ChunkOptions options = chunk_options(input.byte());
  const auto document = chunk::parse_document(key, format, input.rest());
  if (!document) {
    FOOTNOTE_ASSERT(document.error().code == ErrorCode::kUnsupported);
    return;
  }
  check_document(*document, options);
}

}  // namespace footnote::fuzz
