#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "ports/chunk_store.h"

namespace footnote::ingest {

/// Documents compared in one report; a corpus with more is refused.
inline constexpr std::size_t kComparedDocumentsMax = 20'000;
inline constexpr std::size_t kDuplicatePairsMax = 1'000;
/// Parts of a text that its sketch holds.
inline constexpr std::size_t kSketchSize = 128;

/// The smallest hashes of a text's runs of four words, in order: two texts share as large a part of them as of all their runs.
using TextSketch = std::vector<std::uint64_t>;
TextSketch sketch_of(std::string_view text);
/// The estimated share of common runs among all runs of both (Jaccard), 0..1. Two empty texts are equal.
double likeness(const TextSketch& a, const TextSketch& b);

/// Two documents with nearly the same text.
struct DuplicatePair {
  Document a;  ///< The one with the smaller key.
  Document b;
  double likeness = 0;
};

/// The pairs that are at least `likeness_min` alike, most alike first, at most kDuplicatePairsMax. Documents with labels count only if
/// `labelled`. kTooLarge: beyond kComparedDocumentsMax.
Result<std::vector<DuplicatePair>> near_duplicates(const CallContext& call, const ChunkReader& chunks, const Corpus& corpus,
                                                   double likeness_min, bool labelled);

}  // namespace footnote::ingest
