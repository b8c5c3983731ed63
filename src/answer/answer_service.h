#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "answer/follow_up_rewrite.h"
#include "answer/model_stream.h"
#include "answer/turn_listener.h"
#include "answer/turn_metrics.h"
#include "answer/turn_report.h"
#include "base/call_context.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "domain/conversation.h"
#include "domain/profile.h"
#include "ports/conversation_store.h"
#include "ports/event_sink.h"
#include "ports/llm.h"
#include "ports/reader.h"
#include "retrieve/retriever.h"
#include "retrieve/several_corpora.h"
#include "retrieve/side_sources.h"

namespace footnote::answer {

/// A model's longer answer is cut after a sentence.
inline constexpr std::size_t kAnswerCharactersMax = 100'000;

struct Question {
  WorkspaceId workspace;
  CorpusId corpus;  ///< None: the asked corpus does not exist; the question is refused, and not stored.
  ConversationId conversation;
  std::string text;
  Filter filter;
  Profile profile = kKnowledgeBaseProfile;
  /// Earlier turns of the conversation, oldest first, questions and answers in turn: a follow-up is rewritten to stand alone.
  std::vector<ChatMessage> history = {};
  std::stop_token stopped = {};            ///< Requested by the asker: ends the turn, and the text so far is its answer.
  std::vector<DocumentId> mentioned = {};  ///< Documents that are preferred.
  /// Searched besides `corpus`.
  std::vector<retrieve::SearchedCorpus> more_corpora = {};
  std::string language = "en";  ///< Of a refusal's text.
  bool stored = true;           ///< False for evaluation runs: the turn is not stored and counts neither as a gap nor as usage.
};

/// The question path: retrieve, gate, then refuse, quote (no language model configured) or stream a model's answer with its citations bound
/// to their sources; at the end the turn is stored with its trace. Nothing is written to the store between the first and the last text. A
/// failure to store never reaches the listener: it is logged and counted. Thread-safe; borrows its ports. Metrics: see turn_metrics.h. A
/// refusal is an outcome of a good Result. Errors: those of retrieval and the model; kCancelled if the listener or the call ended the turn
/// (the text so far is stored as partial).
class AnswerService {
 public:
  struct Ports {
    const retrieve::Retriever& retriever;
    Reader& reader;
    Reader* model_reader = nullptr;  ///< See TurnPorts.
    Llm* llm = nullptr;              ///< Null: the built-in reader answers by quoting.
    ConversationStore& conversations;
    const Clock& clock;
    Metrics* metrics = nullptr;          ///< Null: no metrics.
    ModelStream::Options checking = {};  ///< How a language model's answers are checked.
    EventSink* events = nullptr;         ///< Receives every piece of an answer and the end of the turn.
    FollowUpModel follow_ups = {};
    const EdgeStore* edges = nullptr;  ///< Null: a language model gets no related passages and no rejected approaches.
    retrieve::SidePolicy side = {};
    bool mask_pii = false;  ///< See TurnSubject.
  };
  explicit AnswerService(Ports ports)
      : ports_(ports), metrics_(ports.metrics == nullptr ? nullptr : std::make_unique<TurnMetrics>(*ports.metrics)) {}

  Result<TurnReport> answer(const CallContext& call, const Question& question, TurnListener& listener) const;

 private:
  Ports ports_;
  std::unique_ptr<TurnMetrics> metrics_;
};

}  // namespace footnote::answer
