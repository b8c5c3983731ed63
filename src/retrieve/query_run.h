#pragma once

#include "retrieve/retriever.h"

namespace footnote::retrieve {

/// Runs all stages for one question, from embedding to gate: see Retriever. REQUIRES: the question is neither empty nor too long.
Result<Retrieval> run_query(const Retriever::Ports& ports, const CallContext& call, CorpusId corpus, std::string_view question,
                            const RetrieveOptions& options);

}  // namespace footnote::retrieve
