#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "answer/turn_metrics.h"
#include "answer/turn_trace.h"
#include "base/call_context.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "domain/conversation.h"
#include "domain/profile.h"
#include "ports/conversation_store.h"
#include "ports/llm.h"
#include "ports/reader.h"
#include "retrieve/retriever.h"

namespace footnote::answer {

/// A question put to one corpus.
struct Question {
  WorkspaceId workspace;
  CorpusId corpus;
  ConversationId conversation;
  std::string text;
  Filter filter;
  Profile profile = kKnowledgeBaseProfile;
};

/// Hears a turn while it happens, on the thread that called `answer`, in this order: on_start once, then
/// on_sources once and on_text any number of times for an answer; a refusal has neither. An error that a method
/// returns (the client went away) ends the turn. The texts of on_text joined are the answer's text.
class TurnListener {
 public:
  virtual ~TurnListener() = default;
  virtual Result<void> on_start(const TurnId& turn) = 0;
  virtual Result<void> on_sources(std::span<const SourceBlock> sources) = 0;
  virtual Result<void> on_text(std::string_view text) = 0;
};

/// How a turn ended, with what explains it.
struct TurnReport {
  Turn turn;
  retrieve::Retrieval retrieval;
  std::chrono::microseconds retrieval_time{0};
  std::chrono::microseconds answer_time{0};
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  TurnTrace trace;
};

/// The question path: retrieve, gate, then refuse, quote (no language model configured) or stream a model's
/// answer with its citations bound to their sources; at the end the turn is stored with its trace. Nothing is
/// written to the store between the first and the last text, and a failure to store never reaches the listener: it
/// is logged and counted. Thread-safe; borrows its ports. Metrics: see turn_metrics.h.
/// A refusal is an outcome of a good Result. Errors: as retrieval and the model give them; kCancelled when the
/// listener or the call ended the turn (what had come is stored as partial).
class AnswerService {
 public:
  struct Ports {
    const retrieve::Retriever& retriever;
    Reader& reader;
    Llm* llm = nullptr;  ///< Null: the built-in reader answers by quoting.
    ConversationStore& conversations;
    const Clock& clock;
    Metrics* metrics = nullptr;  ///< Null: nothing is counted.
  };
  explicit AnswerService(Ports ports)
      : ports_(ports), metrics_(ports.metrics == nullptr ? nullptr : std::make_unique<TurnMetrics>(*ports.metrics)) {}

  Result<TurnReport> answer(const CallContext& call, const Question& question, TurnListener& listener) const;

 private:
  Ports ports_;
  std::unique_ptr<TurnMetrics> metrics_;
};

}  // namespace footnote::answer
