#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/profile.h"
#include "domain/retrieval.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"
#include "ports/keyword_index.h"
#include "ports/vector_store.h"
#include "retrieve/gate.h"

namespace footnote::retrieve {

inline constexpr std::size_t kQuestionCharactersMax = 10'000;
/// What that many characters can take in UTF-8; a bound for parsers that count bytes.
inline constexpr std::size_t kQuestionBytesMax = 4 * kQuestionCharactersMax;

/// Which recall sides take part. kBoth for answers; the single ones measure a stage by itself.
enum class Recall { kBoth, kVectorOnly, kKeywordOnly };

struct RetrieveOptions {
  Profile profile = kAskProfile;
  Filter filter;
  Recall recall = Recall::kBoth;
};

struct StageTiming {
  std::string_view stage;  ///< "embed", "vector", "keyword", "fuse", "fetch"
  std::chrono::microseconds took{0};
};

/// What retrieval found, and all that explains it. `hits` holds the best `profile.top_k`, best first.
struct Retrieval {
  Generation generation = 0;
  std::vector<Hit> hits;
  GateVerdict gate;
  std::size_t candidates = 0;
  std::vector<StageTiming> timings;
};

/// The one ranking stage of every front door: embed, recall (vectors and keywords), fuse, gate. It pins one
/// generation for both sides, so that a document's old and new version never mix; the same question on the same
/// generation gives the same retrieval. Thread-safe; borrows its ports, which must outlive it.
/// kInvalidArgument: an empty question. kTooLarge: one past kQuestionCharactersMax.
class Retriever {
 public:
  Retriever(Embedder& embedder, const VectorSearch& vectors, const KeywordSearch& keywords, const ChunkReader& chunks)
      : embedder_(embedder), vectors_(vectors), keywords_(keywords), chunks_(chunks) {}

  Result<Retrieval> retrieve(const CallContext& call, CorpusId corpus, std::string_view question, const RetrieveOptions& options) const;

 private:
  Embedder& embedder_;
  const VectorSearch& vectors_;
  const KeywordSearch& keywords_;
  const ChunkReader& chunks_;
};

}  // namespace footnote::retrieve
