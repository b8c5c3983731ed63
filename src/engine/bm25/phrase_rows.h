#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bm25/segment.h"

namespace footnote::bm25 {

/// One term of a phrase in a segment.
struct PhrasePart {
  PostingList list;
  std::uint32_t offset = 0;
};

/// Sets the bytes of the rows that contain all parts at their offsets from a common position. REQUIRES: at least one part, a byte for each
/// row.
void mark_phrase_rows(std::span<const PhrasePart> parts, std::vector<std::uint8_t>& out);

}  // namespace footnote::bm25
