#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/helper_threads.h"
#include "base/metrics.h"
#include "domain/profile.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"
#include "ports/keyword_index.h"
#include "ports/late_scorer.h"
#include "ports/reranker.h"
#include "ports/vector_store.h"
#include "retrieve/retrieval.h"

namespace footnote::retrieve {

inline constexpr std::size_t kQuestionCharactersMax = 10'000;
/// What that many characters can take in UTF-8; a bound for parsers that count bytes.
inline constexpr std::size_t kQuestionBytesMax = 4 * kQuestionCharactersMax;

/// Which stages order. kBoth for answers: all of them; the single ones measure a stage by itself (kLateOnly over what both sides found).
enum class Recall { kBoth, kVectorOnly, kKeywordOnly, kLateOnly };

struct RetrieveOptions {
  Profile profile = kAskProfile;
  Filter filter;
  Recall recall = Recall::kBoth;
  bool prefix = false;  ///< As KeywordQuery has them.
  bool typos = false;
  std::string page_url = {};  ///< Canonical (base/page_url.h). Of this page's passages the score is raised by `profile.page_boost`.
  /// What each hit's calibrated score, with its boost, has to reach: see page_policy.h. None: the gate judges by the best alone.
  std::optional<double> threshold = {};
};

/// The one ranking stage of every front door: embed, recall (vectors and keywords), fuse, compare tokens, judge, gate. It pins one
/// generation for both sides, so that a document's old and new version never mix; the same question on the same
/// generation gives the same retrieval. The order of the last stages: judge, boost of the current page, threshold, limits. Thread-safe;
/// borrows its ports, which must outlive it. kInvalidArgument: an empty question. kTooLarge: one past kQuestionCharactersMax. Metrics:
/// footnote_retrieval_duration_seconds{stage}.
class Retriever {
 public:
  struct Ports {
    Embedder& embedder;
    const VectorSearch& vectors;
    const KeywordSearch& keywords;
    const ChunkReader& chunks;
    const LateScorer* late = nullptr;  ///< Null: tokens are not compared.
    Reranker* judge = nullptr;         ///< Null: nobody reads question and passage together.
    /// The judge's share of a question's time. What it does not manage by then it leaves to the order that there was.
    std::chrono::milliseconds judge_timeout = std::chrono::seconds(3);
    Metrics* metrics = nullptr;        ///< Null: nothing is counted.
    HelperThreads* helpers = nullptr;  ///< Does what can be done at the same time; null: nobody does.
  };
  explicit Retriever(const Ports& ports);

  Result<Retrieval> retrieve(const CallContext& call, CorpusId corpus, std::string_view question, const RetrieveOptions& options) const;

 private:
  const Ports ports_;
  std::vector<Histogram*> stage_seconds_;  ///< By position in kRetrievalStages; empty without metrics.
};

}  // namespace footnote::retrieve
