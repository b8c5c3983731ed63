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
#include "ports/embedder.h"
#include "ports/event_sink.h"
#include "ports/llm.h"
#include "ports/reader.h"
#include "ports/reranker.h"
#include "retrieve/site_retriever.h"

namespace footnote::answer {

/// Confidence of an ungrounded answer, and the minimum for one supported by the visitor's current page.
inline constexpr double kUngroundedConfidence = 0.3;
inline constexpr double kPageConfidence = 0.85;

/// A visitor's message to an agent.
struct VisitorQuestion {
  PublishedAgent agent;
  std::vector<retrieve::SearchedCorpus> corpora;  ///< Corpora of the agent; at least one.
  VisitorId visitor;
  ConversationId conversation;
  std::string text;
  std::string page_url = {};             ///< Canonical; empty: unknown.
  std::optional<PageContext> page = {};  ///< What the widget read from that page.
  bool page_was_dropped = false;         ///< True: the page context exceeded kPageContextBytesMax; recorded in the trace.
  std::string locale = {};
  std::string accept_language = {};
  bool playground = false;
  std::stop_token stopped = {};  ///< Requested by the visitor: ends the turn, and the text so far is its answer.
};

/// Flags of a visit (Visit::flags).
inline constexpr std::string_view kFlagOneSource = "one_source";
inline constexpr std::string_view kFlagNoSources = "no_sources";
inline constexpr std::string_view kFlagBelowThreshold = "below_threshold";
/// The corpus was embedded by another model, so only keywords were searched. `footnote rebuild-index` embeds it again.
inline constexpr std::string_view kFlagModelChanged = "model_changed";
/// The scale of a model that is not built in is still unknown, so the confidence comes from the other signals.
inline constexpr std::string_view kFlagUncalibrated = "uncalibrated";
inline constexpr std::string_view kFlagNoAnswer = "no_answer";
inline constexpr std::string_view kFlagDegraded = "degraded";
inline constexpr std::string_view kFlagTruncated = "truncated";
inline constexpr std::string_view kFlagAvoidedTopic = "avoided_topic";
inline constexpr std::string_view kFlagPageDropped = "page_context_dropped";
inline constexpr std::string_view kFlagStopped = "stopped";

/// The question path for a site's visitors. In order: a curated answer ends the turn; so does a topic that the agent avoids; a follow-up is
/// rewritten; passages are retrieved, boosted if they are from the current page, and filtered by the agent's threshold; the page itself, as
/// read by the widget, becomes source 1; a language model answers from the sources (without one, sentences are quoted), within the agent's
/// length bound. Then the turn is stored with its Visit: confidence, why it is low, and whether it is a gap. If the embedder, the indexes,
/// reading from the store or the judge fails, the turn continues with the sources that remain. Otherwise like AnswerService. Thread-safe;
/// borrows its ports.
class VisitorService {
 public:
  struct Ports {
    const retrieve::SiteRetriever& retriever;
    Reader& reader;
    Reader* model_reader = nullptr;  ///< See TurnPorts.
    Llm* llm = nullptr;
    Reranker* judge = nullptr;  ///< Judges the current page.
    ConversationStore& conversations;
    const AgentStore& agents;
    Cache* cache = nullptr;  ///< Holds earlier turns.
    const Clock& clock;
    Metrics* metrics = nullptr;
    ModelStream::Options checking = {};
    std::chrono::milliseconds judge_timeout = std::chrono::seconds(3);
    EventSink* events = nullptr;  ///< Receives every piece of an answer and the end of the turn.
    FollowUpModel follow_ups = {};
    Embedder* embedder = nullptr;  ///< Compares the question with the current page if no judge with a known scale does.
  };
  explicit VisitorService(const Ports& ports);

  Result<TurnReport> answer(const CallContext& call, const VisitorQuestion& question, TurnListener& listener) const;

 private:
  const Ports ports_;
  std::unique_ptr<TurnMetrics> metrics_;
  std::unique_ptr<CuratedMatchers> curated_;
};

}  // namespace footnote::answer
