#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chunk/parse.h"
#include "domain/ids.h"

namespace footnote::chunk {

/// Assumes 4 bytes per token: 200 tokens and the heading path fit the embedder's window of 256.
inline constexpr std::size_t kTargetBytesDefault = 800;
inline constexpr std::size_t kMaxBytesDefault = 1400;
/// Longer sentences are not repeated at the start of the next chunk.
inline constexpr std::size_t kOverlapBytesMaxDefault = 240;

/// Code points per window, and how many it shares with the previous one.
inline constexpr std::size_t kWindowChars = 800;
inline constexpr std::size_t kWindowOverlapChars = 100;

/// kHeadings: along the document's outline. kWindows: windows of kWindowChars regardless of content, without heading paths; the byte limits
/// do not apply.
enum class Cut { kHeadings, kWindows };

struct ChunkOptions {
  Cut cut = Cut::kHeadings;
  std::size_t target_bytes = kTargetBytesDefault;
  std::size_t max_bytes = kMaxBytesDefault;                 ///< At least 16 and at least target_bytes; smaller values are raised.
  std::size_t overlap_bytes_max = kOverlapBytesMaxDefault;  ///< 0: no overlap.
};

/// A passage before it has vectors.
struct Piece {
  std::string text;  ///< document.text.substr(range)
  std::vector<std::string> heading_path;
  std::string symbol;
  std::string source_type;   ///< "doc"
  std::string content_hash;  ///< SHA-256 of the heading path and the text with folded spaces.
  TextRange range;
  int first_line = 1;  ///< Places in the original file, in the unit of ParsedDocument::places.
  int last_line = 1;
  Places places = {};  ///< Offsets are bytes of `text`.
};

/// Cuts a document, by default along its headings. A heading's line stays with its section; small sections of one parent share a chunk
/// under the parent's path; a long section is cut between sentences, with the last sentence repeated in the next chunk; code and tables are
/// cut between lines, and only past max_bytes. No chunk is longer than max_bytes: a longer sentence or line is cut at a space or code
/// point. Ranges start and end at code points, ascend, and together cover every byte that is not white space. Deterministic.
std::vector<Piece> chunk_document(const ParsedDocument& document, const ChunkOptions& options = {});

/// The text to embed for a chunk: the heading path on one line, then the text.
std::string embedding_text(const Piece& piece);

}  // namespace footnote::chunk
