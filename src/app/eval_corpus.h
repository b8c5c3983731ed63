#pragma once

#include <filesystem>
#include <memory>

#include "app/answer_parts.h"
#include "eval/beir.h"
#include "eval/documentation_set.h"
#include "eval/job.h"

namespace footnote::app {

/// A set's documents as a corpus in a store of its own, embedded once and kept in the cache: a folder whose name is made from the documents
/// and the model.
struct EvalCorpus {
  std::unique_ptr<AnswerParts> parts;
  Corpus corpus;
  std::size_t embedded = 0;  ///< Documents embedded now, not taken from the cache.
  double seconds = 0;        ///< Time spent embedding them.
};

/// A BEIR set's documents, each one chunk. Embeds what is not there yet; commits as it goes, so that an interrupted run goes on where it
/// was. Its indexes are built.
Result<EvalCorpus> open_eval_corpus(const eval::EvalJob& job, const eval::BeirSet& set);

/// A folder of documents, ingested as `footnote ingest` does it, so that a document's key is its path below the folder. The same holds.
/// `missing` names pages of the set's questions that are no document of the corpus.
struct PageCorpus {
  EvalCorpus opened;
  std::size_t documents = 0;
  std::vector<std::string> missing = {};
};
/// kNotFound: no such folder, or nothing in it.
Result<PageCorpus> open_page_corpus(const eval::EvalJob& job, const eval::DocumentationSet& set);

}  // namespace footnote::app
