#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/curated_match.h"
#include "answer/follow_up_rewrite.h"
#include "answer/model_stream.h"
#include "answer/page_context.h"
#include "answer/turn_listener.h"
#include "answer/turn_metrics.h"
#include "answer/turn_report.h"
#include "base/call_context.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "domain/agent.h"
#include "ports/cache.h"
#include "ports/conversation_store.h"
#include "ports/event_sink.h"
#include "ports/llm.h"
#include "ports/reader.h"
#include "ports/reranker.h"
#include "retrieve/site_retriever.h"

namespace footnote::answer {

/// Confidence of an answer that nothing grounds, and the least of one that the visitor's own page carries.
inline constexpr double kUngroundedConfidence = 0.3;
inline constexpr double kPageConfidence = 0.85;
/// From which probability on the judge is taken to find the page relevant.
inline constexpr double kPageRelevanceMin = 0.5;

/// A visitor's message to an agent.
struct VisitorQuestion {
  PublishedAgent agent;
  std::vector<retrieve::SearchedCorpus> corpora;  ///< Those of the agent; at least one.
  VisitorId visitor;
  ConversationId conversation;
  std::string text;
  std::string page_url = {};             ///< Canonical; empty: not known.
  std::optional<PageContext> page = {};  ///< What the widget read off that page.
  bool page_was_dropped = false;         ///< It was past kPageContextBytesMax: noted in the trace.
  std::string locale = {};
  std::string accept_language = {};
  bool playground = false;
  std::stop_token stopped = {};  ///< The visitor asked to end this turn: what had come is its answer.
};

/// Flags of a visit (Visit::flags).
inline constexpr std::string_view kFlagOneSource = "one_source";
inline constexpr std::string_view kFlagNoSources = "no_sources";
inline constexpr std::string_view kFlagBelowThreshold = "below_threshold";
inline constexpr std::string_view kFlagNoAnswer = "no_answer";
inline constexpr std::string_view kFlagDegraded = "degraded";
inline constexpr std::string_view kFlagTruncated = "truncated";
inline constexpr std::string_view kFlagAvoidedTopic = "avoided_topic";
inline constexpr std::string_view kFlagPageDropped = "page_context_dropped";
inline constexpr std::string_view kFlagStopped = "stopped";

/// The question path of a site's visitors. In order: a curated answer ends the turn; so does a topic that the agent avoids; a follow-up is
/// rewritten; passages are retrieved, the current page's raised, each held against the agent's threshold; the page itself, as the widget
/// read it, is source 1; a language model answers from them (with none: sentences are quoted), no longer than the agent allows. Then the
/// turn is stored with its Visit: confidence, why it is low, and whether it is a gap.
/// Failures of the embedder, the indexes, the store's reading side or the judge leave the turn with what is left of its sources. Otherwise
/// as AnswerService. Thread-safe; borrows its ports.
class VisitorService {
 public:
  struct Ports {
    const retrieve::SiteRetriever& retriever;
    Reader& reader;
    Llm* llm = nullptr;
    Reranker* judge = nullptr;  ///< Reads the current page; null: it is a source, but raises no confidence.
    ConversationStore& conversations;
    const AgentStore& agents;
    Cache* cache = nullptr;  ///< Of earlier turns.
    const Clock& clock;
    Metrics* metrics = nullptr;
    ModelStream::Options checking = {};
    std::chrono::milliseconds judge_timeout = std::chrono::seconds(3);
    EventSink* events = nullptr;  ///< Hears every piece of an answer, and the turn's end.
    FollowUpModel follow_ups = {};
  };
  explicit VisitorService(const Ports& ports);

  Result<TurnReport> answer(const CallContext& call, const VisitorQuestion& question, TurnListener& listener) const;

 private:
  const Ports ports_;
  std::unique_ptr<TurnMetrics> metrics_;
  std::unique_ptr<CuratedMatchers> curated_;
};

}  // namespace footnote::answer
