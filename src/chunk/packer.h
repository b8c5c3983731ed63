#pragma once

#include <vector>

#include "chunk/chunker.h"
#include "chunk/units.h"

namespace footnote::chunk {

struct PackedChunk {
  TextRange range;
  std::size_t section = 0;  ///< Index of its section in the outline, whose path becomes the chunk's.
};

/// Combines units into chunks along the outline: see chunk_document for the guarantees.
std::vector<PackedChunk> pack(const Outline& outline, const ChunkOptions& options);

}  // namespace footnote::chunk
