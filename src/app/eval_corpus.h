#pragma once

#include <filesystem>
#include <memory>

#include "app/answer_parts.h"
#include "eval/beir.h"
#include "eval/documentation_set.h"
#include "eval/job.h"

namespace footnote::app {

/// The documents of a set, as a corpus in its own store. They are embedded once and cached in a folder named after the documents and the
/// model.
struct EvalCorpus {
  std::unique_ptr<AnswerParts> parts;
  Corpus corpus;
  std::size_t embedded = 0;  ///< Documents embedded in this run; the others were cached.
  double seconds = 0;        ///< Time spent embedding them.
};

/// A BEIR set's documents, each one chunk. Embeds missing documents and commits them in batches, so that an interrupted run can resume.
/// The indexes are built.
Result<EvalCorpus> open_eval_corpus(const eval::EvalJob& job, const eval::BeirSet& set);

/// A folder of documents, ingested as `footnote ingest` does it, so that a document's key is its path below the folder. Resumes like
/// open_eval_corpus(). `missing` names pages of the set's questions that the corpus does not contain.
struct PageCorpus {
  EvalCorpus opened;
  std::size_t documents = 0;
  std::vector<std::string> missing = {};
};
/// kNotFound: no such folder, or nothing in it.
Result<PageCorpus> open_page_corpus(const eval::EvalJob& job, const eval::DocumentationSet& set);

}  // namespace footnote::app
