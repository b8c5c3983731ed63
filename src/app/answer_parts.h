#pragma once

#include <memory>
#include <string>

#include "answer/answer_service.h"
#include "answer/question_translator.h"
#include "app/ingest_parts.h"
#include "providers/local/counted_events.h"
#include "providers/local/local_late_scorer.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/retriever.h"

namespace footnote::app {

struct AnswerOptions {
  /// False: a model server without llm.model is an error. True if only the proxy uses the model server.
  bool model_may_be_unnamed = false;
  IngestOptions ingest = {};
};

/// The parts needed for answering on top of those for ingest: the judge, the reader or language model, retrieval, and the answer service.
/// Every API and every measurement is built on this.
class AnswerParts {
 public:
  static Result<std::unique_ptr<AnswerParts>> open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                   AnswerOptions options = {});
  AnswerParts(const AnswerParts&) = delete;
  AnswerParts& operator=(const AnswerParts&) = delete;

  IngestParts& base() { return *base_; }
  const IngestParts& base() const { return *base_; }
  const retrieve::Retriever& retriever() const { return retriever_; }
  const answer::AnswerService& answers() const { return answers_; }
  const retrieve::AskedCorpora& corpora() const { return corpora_; }
  const Rerankers& rerankers() const { return rerankers_; }
  /// Null without a model server.
  http::Client* model_client() { return client_.get(); }
  /// Null: the built-in reader answers by quoting.
  Llm* llm() { return llm_.get(); }
  Reader& reader() { return *sentence_reader_; }
  /// Null if none is installed, or a language model answers.
  Reader* model_reader() { return model_reader_.get(); }
  EventSink& events() { return events_; }
  /// How follow-ups in a conversation are rewritten.
  const answer::FollowUpModel& follow_ups() const { return follow_ups_; }
  const answer::ModelStream::Options& checking() const { return checking_; }

 private:
  AnswerParts(std::unique_ptr<IngestParts> base, Rerankers rerankers, std::unique_ptr<Reader> reader, const Settings& settings);

  // Each part uses only those above it, so they are destroyed in the right order.
  const std::unique_ptr<IngestParts> base_;
  const Rerankers rerankers_;
  const std::unique_ptr<Reader> sentence_reader_;
  const std::unique_ptr<Reader> model_reader_;
  const std::unique_ptr<http::Client> client_;
  const std::unique_ptr<Llm> llm_;
  const std::unique_ptr<Llm> follow_up_llm_;  // null: by words
  const answer::FollowUpModel follow_ups_;
  const std::unique_ptr<answer::QuestionTranslator> translator_;  // null without a model
  CountedEvents events_;
  LocalLateScorer late_;
  const retrieve::Retriever retriever_;
  const retrieve::AskedCorpora corpora_;
  answer::CitationCheck citation_check_;
  answer::CheckLane check_lane_;
  const answer::ModelStream::Options checking_;
  const answer::AnswerService answers_;
};

}  // namespace footnote::app
