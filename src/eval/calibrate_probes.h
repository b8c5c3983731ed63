#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "ports/chunk_store.h"

namespace footnote::eval {

/// A question to try the gate with, and where it is from.
struct Probe {
  std::string question;
  std::string domain;
};

/// General questions of many domains, built in: most of them are foreign to any one corpus.
std::vector<Probe> general_probes();

/// Documents whose texts are read for probes; of each, so many sentences at most.
inline constexpr std::size_t kProbeDocumentsMax = 400;
inline constexpr std::size_t kProbesPerDocumentMax = 8;

/// Questions that the corpus answers, made from its own texts: the titles of its documents, and of sentences every other word that
/// carries meaning, in another order, so that a question holds what is asked and not how the text says it. At most `count`, spread over the
/// documents; the same corpus gives the same.
Result<std::vector<Probe>> corpus_probes(const CallContext& call, const ChunkReader& chunks, const Corpus& corpus, std::size_t count);

/// The question that a sentence answers, as words; empty when it has too few.
std::string keyword_question(std::string_view sentence);

}  // namespace footnote::eval
