#include "answer/answer_service.h"

#include <algorithm>

#include <fmt/format.h>

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
                 .stored = question.stored && question.corpus,
                 .mask_pii = ports.mask_pii},
                listener),
        retriever_(ports.retriever),
        follow_ups_(ports.follow_ups),
        edges_(ports.edges),
        side_policy_(ports.side),
        question_(question) {}

 private:
  Result<Outcome> decide() override {
    FOOTNOTE_TRY(Outcome outcome, answer_or_refuse());
    // What was added to the hits is in the trace by itself.
    if (fates().size() > report().retrieval.hits.size()) fates().resize(report().retrieval.hits.size());
    if (auto* answer = std::get_if<Answer>(&outcome)) FOOTNOTE_CHECK(note_evidence(*answer));
    return outcome;
  }

  Result<Outcome> answer_or_refuse() {
    if (!question_.corpus) return refuse(RefusalReason::kNoRelevantContext, {});
    FOOTNOTE_CHECK(make_standalone());
    const bool is_quoted = ports().llm == nullptr && reads_with_model();
    const Profile profile = is_quoted ? retrieve::reading_profile(question_.profile) : question_.profile;
    FOOTNOTE_CHECK(find_passages(profile, is_quoted));
    const retrieve::GateVerdict& gate = report().retrieval.gate;
    std::vector<SourceBlock> blocks = number_sources(report().retrieval.hits);
    fates().assign(blocks.size(), Fate::kBelowGate);
    if (report().retrieval.language_not_covered) return refuse(RefusalReason::kLanguageNotCovered, std::move(blocks));
    if (is_quoted && !blocks.empty()) return quote(std::move(blocks), gate.confidence);
    if (!gate.grounded) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    if (ports().llm == nullptr) return quote(std::move(blocks), gate.confidence);
    FOOTNOTE_CHECK(add_side_sources(profile, blocks));
    auto messages = timed(TurnStage::kPrompt, [&] {
      return prompt::build_kb_prompt(question_.text, blocks,
                                     {.now = ports().clock.now(), .fence = random_base62(16), .history = question_.history});
    });
    return stream_model(std::move(messages), std::move(blocks), gate.confidence, kAnswerCharactersMax, prompt::kb_rules());
  }

  Result<void> find_passages(const Profile& profile, bool is_quoted) {
    const std::chrono::microseconds began = since_start();
    FOOTNOTE_TRY(retrieve::Retrieval retrieval, retrieve_all(profile, is_quoted));
    note_retrieval(std::move(retrieval), began);
    return {};
  }

  /// The passages that the reader would have been given without a language model, so that its quotations are the same.
  Result<std::vector<SourceBlock>> passages_to_quote(std::vector<SourceBlock> blocks) override {
    if (!reads_with_model()) return blocks;
    const std::chrono::microseconds before = report().retrieval_time;
    const std::chrono::microseconds began = since_start();
    FOOTNOTE_CHECK(find_passages(retrieve::reading_profile(question_.profile), true));
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

  std::vector<retrieve::SearchedCorpus> corpora_as(const Profile& profile, bool is_quoted) const {
    std::vector<retrieve::SearchedCorpus> out{{question_.corpus, profile}};
    for (const retrieve::SearchedCorpus& more : question_.more_corpora) {
      out.push_back({more.corpus, is_quoted ? retrieve::reading_profile(more.profile) : more.profile});
    }
    return out;
  }

  Result<retrieve::Retrieval> retrieve_all(const Profile& profile, bool is_quoted) {
    return retrieve::retrieve_from(
        retriever_, call(), corpora_as(profile, is_quoted), asked(), [&](const retrieve::SearchedCorpus& searched) {
          return retrieve::RetrieveOptions{.profile = searched.profile, .filter = question_.filter, .mentioned = question_.mentioned};
        });
  }

  /// Adds what a language model should know beside the found passages. A failure costs these alone.
  Result<void> add_side_sources(const Profile& profile, std::vector<SourceBlock>& blocks) {
    for (SourceBlock& block : blocks) {
      if (block.hit.document.canonical_type == retrieve::kRejectedType) block.origin = SourceOrigin::kRejected;
    }
    if (edges_ == nullptr) return {};
    const std::string& translation = report().retrieval.translation;  // not to be made again
    const std::string_view text = translation.empty() ? asked() : std::string_view(translation);
    auto side = timed(TurnStage::kRetrieve, [&] {
      return retrieve::find_side_sources(retriever_, *edges_, call(), corpora_as(profile, false), text, question_.filter,
                                         report().retrieval.hits, side_policy_);
    });
    if (!side) {
      FOOTNOTE_CHECK(call().check());
      report().trace.errors.push_back({TurnStage::kRetrieve, std::move(side).error()});
      return {};
    }
    const auto add = [&](const retrieve::SideHit& found, SourceOrigin origin) {
      blocks.push_back({static_cast<int>(blocks.size()) + 1, found.hit, origin});
    };
    for (const retrieve::SideHit& found : side->related) add(found, SourceOrigin::kRelated);
    for (const retrieve::SideHit& found : side->rejected) add(found, SourceOrigin::kRejected);
    fates().resize(blocks.size(), Fate::kBelowGate);
    report().trace.side = *std::move(side);
    return {};
  }

  /// An answer that rests on weakly backed sources alone says so.
  Result<void> note_evidence(Answer& answer) {
    if (answer.citations.empty()) return {};
    for (const Citation& citation : answer.citations) {
      const auto block = std::ranges::find(answer.sources, citation.number, &SourceBlock::number);
      if (block == answer.sources.end() || !block->hit.document.evidence || !is_weak(*block->hit.document.evidence)) return {};
    }
    const std::string note = fmt::format("\n\n{}", prompt::tentative_text(question_.language));
    FOOTNOTE_CHECK(tell(note));
    answer.text += note;
    report().tentative = true;
    return {};
  }

  std::string refusal_text(RefusalReason reason) const override {
    // Something was found, so the question's language is not the reason for the refusal.
    const bool is_found = reason != RefusalReason::kNoRelevantContext && reason != RefusalReason::kLanguageNotCovered;
    return prompt::kb_refusal_text(reason, question_.language, is_found ? std::string_view() : report().retrieval.foreign_language);
  }

  const retrieve::Retriever& retriever_;
  const FollowUpModel follow_ups_;
  const EdgeStore* const edges_;
  const retrieve::SidePolicy side_policy_;
  const Question& question_;
};

}  // namespace

Result<TurnReport> AnswerService::answer(const CallContext& call, const Question& question, TurnListener& listener) const {
  return KnowledgeBaseTurn(ports_, metrics_.get(), call, question, listener).run();
}

}  // namespace footnote::answer
