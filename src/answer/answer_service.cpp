#include "answer/answer_service.h"

#include "answer/turn_run.h"
#include "base/ids.h"
#include "prompt/kb_prompt.h"
#include "prompt/refusal_text.h"

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
        question_(question) {}

 private:
  Result<Outcome> decide() override {
    const std::chrono::microseconds began = since_start();
    const bool is_quoted = ports().llm == nullptr && reads_with_model();
    const Profile profile = is_quoted ? for_reading(question_.profile) : question_.profile;
    FOOTNOTE_TRY(retrieve::Retrieval retrieval,
                 retriever_.retrieve(call(), question_.corpus, question_.text, {.profile = profile, .filter = question_.filter}));
    note_retrieval(std::move(retrieval), began);
    const retrieve::GateVerdict& gate = report().retrieval.gate;
    std::vector<SourceBlock> blocks = number_sources(report().retrieval.hits);
    fates().assign(blocks.size(), Fate::kBelowGate);
    if (report().retrieval.language_not_covered) return refuse(RefusalReason::kLanguageNotCovered, std::move(blocks));
    if (is_quoted && !blocks.empty()) return quote(std::move(blocks), gate.confidence);
    if (!gate.grounded) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    if (ports().llm == nullptr) return quote(std::move(blocks), gate.confidence);
    auto messages = timed(TurnStage::kPrompt, [&] {
      return prompt::build_kb_prompt(question_.text, blocks, {.now = ports().clock.now(), .fence = random_base62(16)});
    });
    return stream_model(std::move(messages), std::move(blocks), gate.confidence, kAnswerCharactersMax, prompt::kb_rules());
  }

  std::string refusal_text(RefusalReason reason) const override {
    if (reason == RefusalReason::kLanguageNotCovered) {
      return std::string(prompt::language_not_covered_text(report().retrieval.foreign_language));
    }
    // Something was found, so the question's language is not the reason for the refusal.
    const bool is_found = reason != RefusalReason::kNoRelevantContext;
    return prompt::no_context_text(is_found ? std::string_view() : report().retrieval.foreign_language);
  }

  const retrieve::Retriever& retriever_;
  const Question& question_;
};

}  // namespace

Result<TurnReport> AnswerService::answer(const CallContext& call, const Question& question, TurnListener& listener) const {
  return KnowledgeBaseTurn(ports_, metrics_.get(), call, question, listener).run();
}

}  // namespace footnote::answer
