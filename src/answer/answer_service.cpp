#include "answer/answer_service.h"

#include "answer/turn_run.h"
#include "base/ids.h"
#include "prompt/kb_prompt.h"
#include "prompt/refusal_text.h"
#include "retrieve/reading_profile.h"

namespace footnote::answer {

namespace {

class KnowledgeBaseTurn final : public TurnRun {
 public:
  KnowledgeBaseTurn(const AnswerService::Ports& ports, const TurnMetrics* metrics, const CallContext& call, const Question& question,
                    TurnListener& listener)
      : TurnRun({.reader = ports.reader,
                 .model_reader = ports.model_reader,
                 .llm = ports.llm,
                 .conversations = ports.conversations,
                 .clock = ports.clock,
                 .metrics = metrics,
                 .checking = ports.checking,
                 .events = ports.events},
                call,
                {.workspace = question.workspace,
                 .corpus = question.corpus,
                 .conversation = question.conversation,
                 .text = question.text,
                 .profile = question.profile,
                 .stored = question.stored},
                listener),
        retriever_(ports.retriever),
        follow_ups_(ports.follow_ups),
        question_(question) {}

 private:
  Result<Outcome> decide() override {
    FOOTNOTE_CHECK(make_standalone());
    const bool is_quoted = ports().llm == nullptr && reads_with_model();
    FOOTNOTE_CHECK(find_passages(is_quoted ? retrieve::reading_profile(question_.profile) : question_.profile));
    const retrieve::GateVerdict& gate = report().retrieval.gate;
    std::vector<SourceBlock> blocks = number_sources(report().retrieval.hits);
    fates().assign(blocks.size(), Fate::kBelowGate);
    if (report().retrieval.language_not_covered) return refuse(RefusalReason::kLanguageNotCovered, std::move(blocks));
    if (is_quoted && !blocks.empty()) return quote(std::move(blocks), gate.confidence);
    if (!gate.grounded) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    if (ports().llm == nullptr) return quote(std::move(blocks), gate.confidence);
    auto messages = timed(TurnStage::kPrompt, [&] {
      return prompt::build_kb_prompt(question_.text, blocks,
                                     {.now = ports().clock.now(), .fence = random_base62(16), .history = question_.history});
    });
    return stream_model(std::move(messages), std::move(blocks), gate.confidence, kAnswerCharactersMax, prompt::kb_rules());
  }

  Result<void> find_passages(const Profile& profile) {
    const std::chrono::microseconds began = since_start();
    FOOTNOTE_TRY(retrieve::Retrieval retrieval,
                 retriever_.retrieve(call(), question_.corpus, asked(), {.profile = profile, .filter = question_.filter}));
    note_retrieval(std::move(retrieval), began);
    return {};
  }

  /// The passages that the reader would have been given without a language model, so that its quotations are the same.
  Result<std::vector<SourceBlock>> passages_to_quote(std::vector<SourceBlock> blocks) override {
    if (!reads_with_model()) return blocks;
    const std::chrono::microseconds before = report().retrieval_time;
    const std::chrono::microseconds began = since_start();
    FOOTNOTE_CHECK(find_passages(retrieve::reading_profile(question_.profile)));
    report().retrieval_time = before + (since_start() - began);
    std::vector<SourceBlock> found = number_sources(report().retrieval.hits);
    fates().assign(found.size(), Fate::kBelowGate);
    return found;
  }

  std::string withdrawn_text() const override { return std::string(prompt::withdrawn_text()); }

  /// A follow-up is searched for, and read, as a question of its own.
  Result<void> make_standalone() {
    if (question_.history.empty()) return {};
    SearchText made = timed(TurnStage::kFollowUp, [&] { return make_search_text(call(), follow_ups_, question_.history, question_.text); });
    report().trace.follow_up = made.by;
    report().tokens = sum_of(report().tokens, made.tokens);
    if (made.error) {
      FOOTNOTE_CHECK(call().check());
      report().trace.errors.push_back({TurnStage::kFollowUp, *std::move(made.error)});
    }
    if (!made.by.empty()) report().standalone = std::move(made.text);
    return {};
  }
  std::string_view asked() const { return report().standalone.empty() ? std::string_view(question_.text) : report().standalone; }

  bool is_wanted_end(const Error& error) override { return error.code == ErrorCode::kCancelled && question_.stopped.stop_requested(); }

  std::string refusal_text(RefusalReason reason) const override {
    if (reason == RefusalReason::kLanguageNotCovered) {
      return std::string(prompt::language_not_covered_text(report().retrieval.foreign_language));
    }
    // Something was found, so the question's language is not the reason for the refusal.
    const bool is_found = reason != RefusalReason::kNoRelevantContext;
    return prompt::no_context_text(is_found ? std::string_view() : report().retrieval.foreign_language);
  }

  const retrieve::Retriever& retriever_;
  const FollowUpModel follow_ups_;
  const Question& question_;
};

}  // namespace

Result<TurnReport> AnswerService::answer(const CallContext& call, const Question& question, TurnListener& listener) const {
  return KnowledgeBaseTurn(ports_, metrics_.get(), call, question, listener).run();
}

}  // namespace footnote::answer
