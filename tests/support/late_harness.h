#pragma once

#include "contracts/chunk_drafts.h"
#include "contracts/late_scorer_contract.h"
#include "fakes/memory_store.h"

namespace footnote::contract {

/// A scorer over the in-memory store. `Scorer` is constructed from that store.
template <class Scorer>
class MemoryLateHarness final : public LateScorerHarness {
 public:
  LateScorer& scorer() override { return scorer_; }
  CorpusId corpus() override { return corpus_; }
  ChunkId put(const PassageCodes& codes) override {
    DocumentDraft draft = draft_of(std::to_string(++documents_), {"text " + std::to_string(documents_)});
    draft.chunks[0].codes = codes;
    const Generation before = generation_;
    generation_ = store_.commit({}, corpus_, std::vector{draft}, {}).value().generation;
    return store_.changes({}, corpus_, before, 10).value().added.at(0).chunk;
  }

 private:
  ManualClock clock_{UtcTime{}};
  fakes::MemoryStore store_{clock_};
  CorpusId corpus_ =
      store_.ensure_corpus({}, store_.find_workspace({}, kDefaultWorkspace).value().id, "late", {"m", kDimension}).value().id;
  Scorer scorer_{store_};
  int documents_ = 0;
  Generation generation_ = 0;
};

}  // namespace footnote::contract
