#pragma once

#include <chrono>
#include <functional>
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

/// The language that questions are translated to: the built-in models are English.
inline constexpr std::string_view kTranslationLanguage = "en";
inline constexpr std::size_t kQuestionCharactersMax = 10'000;
/// The maximum size of that many characters in UTF-8; a bound for parsers that count bytes.
inline constexpr std::size_t kQuestionBytesMax = 4 * kQuestionCharactersMax;

/// Which stages rank. kBoth (for answers): all of them. The others measure one stage alone; kLateOnly ranks what both searches found.
enum class Recall { kBoth, kVectorOnly, kKeywordOnly, kLateOnly };

struct RetrieveOptions {
  Profile profile = kAskProfile;
  Filter filter;
  Recall recall = Recall::kBoth;
  bool prefix = false;  ///< See KeywordQuery.
  bool typos = false;
  std::vector<DocumentId> mentioned = {};  ///< `profile.mention_boost` is added to the scores of their passages.
  std::string page_url = {};  ///< Canonical (base/page_url.h). `profile.page_boost` is added to the scores of this page's passages.
  /// The minimum of each hit's boosted probability: see page_policy.h. nullopt: the gate judges only by the best hit.
  std::optional<double> threshold = {};
};

/// Translates a question to another language (ISO 639-1). Thread-safe.
using Translate = std::function<Result<std::string>(const CallContext& call, std::string_view question, std::string_view language)>;

/// The one ranking pipeline of every front door: embed, recall (vectors and keywords), fuse, compare tokens, judge, gate. It pins one
/// generation for both indexes, so that a document's old and new version never mix; the same question on the same generation gives the same
/// retrieval. The order of the last stages: judge, boost of the current page, threshold, limits. Thread-safe; borrows its ports, which must
/// outlive it. kInvalidArgument: an empty question. kTooLarge: one past kQuestionCharactersMax. Metrics:
/// footnote_retrieval_duration_seconds{stage}.
class Retriever {
 public:
  struct Ports {
    Embedder& embedder;
    const VectorSearch& vectors;
    const KeywordSearch& keywords;
    const ChunkReader& chunks;
    const LateScorer* late = nullptr;  ///< Null: no late-interaction stage.
    Reranker* judge = nullptr;         ///< Null: no judge stage.
    /// Timeout for the judge. If it expires, the previous order stands.
    std::chrono::milliseconds judge_timeout = std::chrono::seconds(3);
    Metrics* metrics = nullptr;        ///< Null: no metrics.
    Translate translate = {};          ///< Translates a question whose language is not covered, to search again.
    HelperThreads* helpers = nullptr;  ///< Runs stages in parallel; null: everything runs on the caller's thread.
  };
  explicit Retriever(const Ports& ports);

  Result<Retrieval> retrieve(const CallContext& call, CorpusId corpus, std::string_view question, const RetrieveOptions& options) const;

 private:
  Result<void> retrieve_translated(const CallContext& call, CorpusId corpus, std::string_view question, const RetrieveOptions& options,
                                   Retrieval& retrieval) const;

  const Ports ports_;
  std::vector<Histogram*> stage_seconds_;  ///< Indexed like kRetrievalStages; empty without metrics.
};

}  // namespace footnote::retrieve
