#pragma once

#include "retrieve/retriever.h"

namespace footnote::retrieve {

/// All stages of one question, from the embedding to the gate: see Retriever. REQUIRES: the question is neither empty nor too long.
Result<Retrieval> run_query(const Retriever::Ports& ports, const CallContext& call, CorpusId corpus, std::string_view question,
                            const RetrieveOptions& options);

}  // namespace footnote::retrieve
