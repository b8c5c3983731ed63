#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "ports/edge_store.h"
#include "retrieve/several_corpora.h"

namespace footnote::retrieve {

/// The type of documents that describe what was tried and given up.
inline constexpr std::string_view kRejectedType = "rejected-approach";

/// Which passages a question gets besides those that it found.
struct SidePolicy {
  bool graph = true;     ///< Passages of documents that a found document refers to.
  bool rejected = true;  ///< Passages of rejected approaches.
  std::size_t edges_max = 20;
  std::size_t related_max = 4;
  std::size_t rejected_max = 3;
  double rejected_cosine_min = 0.40;
};

/// A passage from beside, and why it is there.
struct SideHit {
  Hit hit;
  std::string edge_type = {};  ///< Of a related one.
  std::string from_key = {};
};

struct SideSources {
  std::vector<SideHit> related;
  std::vector<SideHit> rejected;
  std::size_t edges = 0;  ///< That were followed.
};

/// Finds them with the Retriever, under the question's own filter, so that nobody gets a document that they may not find. Related: one step
/// along edges that lead on, from canonical documents among `found`, to documents that are canonical and accepted or in review; of each the
/// passage that suits the question best. Rejected: accepted ones whose best passage is similar enough. Neither repeats a found document.
Result<SideSources> find_side_sources(const Retriever& retriever, const EdgeStore& edges, const CallContext& call,
                                      std::span<const SearchedCorpus> corpora, std::string_view question, const Filter& filter,
                                      std::span<const Hit> found, const SidePolicy& policy);

}  // namespace footnote::retrieve
