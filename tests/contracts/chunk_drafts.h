#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "ports/chunk_store.h"

namespace footnote::contract {

inline constexpr int kDimension = 4;

inline std::vector<float> vector_of(const std::string& text) {
  const std::size_t hash = std::hash<std::string>{}(text);
  std::vector<float> out;
  for (int i = 0; i < kDimension; ++i) out.push_back(static_cast<float>((hash >> (8 * i)) & 0xFF) / 256.0F);
  return out;
}

/// A draft with these texts as chunks; its text is their concatenation.
inline DocumentDraft draft_of(const std::string& key, const std::vector<std::string>& chunks) {
  DocumentDraft draft;
  draft.key = key;
  draft.attributes.title = "About " + key;
  for (const std::string& text : chunks) {
    ChunkDraft chunk;
    chunk.text = text;
    chunk.source_type = "prose";
    chunk.content_hash = sha256_hex(text);
    chunk.range = {draft.text.size(), draft.text.size() + text.size()};
    chunk.vectors = {vector_of(text)};
    draft.text += text;
    draft.chunks.push_back(std::move(chunk));
  }
  draft.content_hash = sha256_hex(draft.text);
  return draft;
}

}  // namespace footnote::contract
