#pragma once

#include <string>
#include <vector>

#include "chunk/chunker.h"
#include "chunk/units.h"

namespace footnote::chunk {

struct PackedChunk {
  TextRange range;
  std::vector<std::string> heading_path;
};

/// Lays units together into chunks along the outline: see chunk_document for what holds of them.
std::vector<PackedChunk> pack(const Outline& outline, const ChunkOptions& options);

}  // namespace footnote::chunk
