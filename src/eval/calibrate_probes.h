#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "ports/chunk_store.h"

namespace footnote::eval {

/// A question to test the gate with, and its topic.
struct Probe {
  std::string question;
  std::string domain;
};

/// Built-in general questions from many domains. Most domains are foreign to any given corpus.
std::vector<Probe> general_probes();

/// Limits on the documents used for probes, and on the sentences of each.
inline constexpr std::size_t kProbeDocumentsMax = 400;
inline constexpr std::size_t kProbesPerDocumentMax = 8;

/// Questions that the corpus answers, made from its own texts: document titles, and for sentences every second content word in another
/// order. So a question has the subject of a sentence but not its wording. At most `count`, spread over the documents; deterministic for a
/// corpus.
Result<std::vector<Probe>> corpus_probes(const CallContext& call, const ChunkReader& chunks, const Corpus& corpus, std::size_t count);

/// The keywords of a sentence as a question; empty if there are too few.
std::string keyword_question(std::string_view sentence);

}  // namespace footnote::eval
