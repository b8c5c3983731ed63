#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "retrieve/retriever.h"

namespace footnote::retrieve {

/// A corpus, and the profile for searching it, with its calibrated gate.
struct SearchedCorpus {
  CorpusId corpus;
  Profile profile = kVisitorProfile;
};

/// Searches each corpus with the Retriever and merges the hits by boosted probability, because sums are not comparable across corpora; of
/// one corpus they keep the order of its own ranking. At most as many hits as the largest `top_k`. The gate is that of the corpus that
/// answers best; the generation is the first one's. REQUIRES: at least one corpus.
Result<Retrieval> retrieve_from(const Retriever& retriever, const CallContext& call, std::span<const SearchedCorpus> corpora,
                                std::string_view question, const std::function<RetrieveOptions(const SearchedCorpus&)>& options_of);

}  // namespace footnote::retrieve
