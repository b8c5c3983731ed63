#pragma once

#include "api/calibrate_routes.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"
#include "retrieve/retriever.h"

namespace footnote::app {

/// What a calibration asks. Borrowed.
struct CalibrationParts {
  const CatalogStore& catalog;
  const ChunkReader& chunks;
  const retrieve::Retriever& retriever;
  const Embedder& embedder;
  std::string judge;  ///< Its name; empty: none.
  const Clock& clock;
};

/// Looks up questions made from the corpus's own texts, general ones, and ones of the workspace's other corpora; every other one sets the
/// gate, the rest measure it. Stores nothing. kFailedPrecondition: the corpus's vectors are not this embedder's, or it has too few texts.
Result<api::Calibrated> calibrate(const CallContext& call, const CalibrationParts& parts, const Corpus& corpus, double rate,
                                  const api::OnQuestion& on_question);

}  // namespace footnote::app
