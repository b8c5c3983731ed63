#pragma once

#include <filesystem>
#include <memory>

#include "app/answer_parts.h"
#include "eval/beir.h"
#include "eval/job.h"

namespace footnote::app {

/// A BEIR set's documents as a corpus in a store of its own, each document one chunk, embedded once and kept in the cache: a folder
/// whose name is made from the documents and the model.
struct EvalCorpus {
  std::unique_ptr<AnswerParts> parts;
  Corpus corpus;
  std::size_t embedded = 0;  ///< Documents that were not there yet.
  double seconds = 0;        ///< That it took to embed them.
};

/// Embeds what is not there yet; commits as it goes, so that an interrupted run goes on where it was. Its indexes are built.
Result<EvalCorpus> open_eval_corpus(const eval::EvalJob& job, const eval::BeirSet& set);

}  // namespace footnote::app
