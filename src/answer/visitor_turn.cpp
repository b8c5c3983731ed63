#include "answer/visitor_turn.h"

#include <algorithm>

#include "answer/failure_phrases.h"
#include "answer/turn_run.h"
#include "answer/visitor_history.h"
#include "answer/visitor_texts.h"
#include "base/fold_words.h"
#include "base/log.h"
#include "base/text.h"
#include "prompt/refusal_text.h"
#include "prompt/visitor_prompt.h"
#include "retrieve/mmr.h"
#include "retrieve/page_policy.h"
#include "retrieve/score_model.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// Whether a question contains a topic as whole words.
bool names(std::string_view folded_question, std::string_view topic) {
  const std::string wanted = fold_words(topic);
  return !wanted.empty() && (" " + std::string(folded_question) + " ").find(" " + wanted + " ") != std::string::npos;
}

class VisitorTurn final : public TurnRun {
 public:
  VisitorTurn(const VisitorService::Ports& ports, const TurnMetrics* metrics, CuratedMatchers& curated, const CallContext& call,
              const VisitorQuestion& question, TurnListener& listener)
      : TurnRun({.reader = ports.reader,
                 .model_reader = ports.model_reader,
                 .llm = ports.llm,
                 .conversations = ports.conversations,
                 .clock = ports.clock,
                 .metrics = metrics,
                 .checking = ports.checking,
                 .events = ports.events},
                call,
                {.workspace = question.agent.workspace,
                 .corpus = question.corpora.at(0).corpus,
                 .conversation = question.conversation,
                 .text = question.text,
                 .profile = question.corpora.at(0).profile,
                 .stored = true},
                listener),
        ports_(ports),
        curated_(curated),
        question_(question),
        agent_(question.agent.settings),
        remembered_(ports.cache, question.visitor, question.conversation),
        threshold_(agent_.confidence_threshold.value_or(question.corpora.at(0).profile.gate.probability_min)),
        language_(visitor_language({.agent = agent_.language_default,
                                    .locale = question.locale,
                                    .accept_language = question.accept_language,
                                    .question = question.text})) {
    Visit& visit = report().turn.visit.emplace();
    visit.agent = question.agent.id;
    visit.visitor = question.visitor;
    visit.page_url = question.page_url;
    visit.playground = question.playground;
  }

 private:
  Result<Outcome> decide() override {
    if (auto text = curated_text()) return tell_curated(*std::move(text));
    if (names_avoided_topic()) return decline();
    history_ = remembered_.read(call(), ports_.conversations, question_.agent.workspace);
    FOOTNOTE_CHECK(listener().on_progress(Progress::kSearching));
    FOOTNOTE_CHECK(find_passages());
    FOOTNOTE_CHECK(read_page());
    settle_confidence();
    FOOTNOTE_CHECK(listener().on_progress(Progress::kThinking));
    FOOTNOTE_TRY(Outcome outcome, answer_from(number_sources(report().retrieval.hits)));
    if (const auto* answer = std::get_if<Answer>(&outcome)) settle_answer(*answer);
    if (truncated()) flag(kFlagTruncated);
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
      settle_refusal();
      FOOTNOTE_CHECK(tell(refusal->text));
    }
    visit().gap = gap_of(outcome);
    const auto* answer = std::get_if<Answer>(&outcome);
    if (visit().gap == GapReason::kFailurePhrase && answer != nullptr && answer->citations.empty()) settle_refusal();
    return outcome;
  }

  std::string refusal_text(RefusalReason reason) const override {
    if (reason != RefusalReason::kLanguageNotCovered) return std::string(unknown_text(language_));
    return std::string(prompt::language_not_covered_text(report().retrieval.foreign_language));
  }

  std::string withdrawn_text() const override { return std::string(answer::withdrawn_text(language_)); }

  /// A visitor may also greet or thank; a model may say that it does not know; and without sources it has nothing to cite, which the
  /// confidence says. A text that repeats itself, or the question, is nothing in any case.
  bool may_stand(std::string_view text, const AnswerVerdict& verdict) override {
    const bool is_uncited = verdict.no_answer == NoAnswer::kUncited || verdict.no_answer == NoAnswer::kUnsupported;
    if (!is_uncited) return false;
    const bool has_number = std::ranges::any_of(text, is_ascii_digit);
    return report().retrieval.hits.empty() || !verdict.makes_claim || (!has_number && holds_failure_phrase(text, language_, {}));
  }

  bool is_wanted_end(const Error& error) override {
    if (error.code != ErrorCode::kCancelled || !question_.stopped.stop_requested()) return false;
    flag(kFlagStopped);
    return true;
  }

  void after_store() override {
    const auto text = std::visit([](const auto& each) -> std::string_view { return each.text; }, report().turn.outcome);
    if (!text.empty()) remembered_.add(call().detached(std::chrono::seconds(1)), question_.text, text);
  }

  Visit& visit() { return *report().turn.visit; }
  void flag(std::string_view name) {
    if (std::ranges::find(visit().flags, name) == visit().flags.end()) visit().flags.emplace_back(name);
  }
  bool has_flag(std::string_view name) { return std::ranges::find(visit().flags, name) != visit().flags.end(); }
  void note_failure(TurnStage stage, const Error& error) {
    report().trace.errors.push_back({stage, error});
    flag(kFlagDegraded);
  }

  std::optional<std::string> curated_text() {
    const auto matcher = timed(TurnStage::kCurated, [&] { return curated_.of(call(), question_.agent.id); });
    if (!matcher) {
      note_failure(TurnStage::kCurated, matcher.error());
      return std::nullopt;
    }
    const CuratedAnswer* found = (*matcher)->match({.text = question_.text, .language = language_, .page_url = question_.page_url});
    return found == nullptr ? std::nullopt : std::optional(found->answer);
  }

  Result<Outcome> tell_curated(std::string text) {
    visit().curated = true;
    visit().confidence = 1;
    FOOTNOTE_CHECK(tell(text));
    return Answer{.text = std::move(text), .sources = {}, .citations = {}, .confidence = 1, .model = {}};
  }

  bool names_avoided_topic() const {
    if (agent_.guardrails.avoid.empty()) return false;
    const std::string question = fold_words(question_.text);
    return std::ranges::any_of(agent_.guardrails.avoid, [&](const std::string& topic) { return names(question, topic); });
  }

  /// Not a gap: the agent is not supposed to answer this.
  Result<Outcome> decline() {
    flag(kFlagAvoidedTopic);
    Refusal refusal{RefusalReason::kBlockedByGuardrails, std::string(declined_text(language_)), {}};
    FOOTNOTE_CHECK(tell(refusal.text));
    return refusal;
  }

  /// The text to search for. The trace records how it was rewritten; if the model fails, the turn continues without it.
  Result<std::string> search_text() {
    SearchText made = timed(TurnStage::kFollowUp, [&] { return make_search_text(call(), ports_.follow_ups, history_, question_.text); });
    report().trace.follow_up = made.by;
    report().tokens = sum_of(report().tokens, made.tokens);
    if (made.error) {
      FOOTNOTE_CHECK(call().check());
      report().trace.errors.push_back({TurnStage::kFollowUp, *std::move(made.error)});
    }
    return std::move(made.text);
  }

  /// A trained reader finds the answer and decides, as at the other doors.
  bool is_quoted() const { return ports().llm == nullptr && reads_with_model(); }

  /// The reader also gets passages that do not reach the threshold.
  bool is_grounding(const Hit& hit) const { return !is_quoted() || retrieve::boosted_probability(hit) >= threshold_; }

  Result<void> find_passages() {
    FOOTNOTE_TRY(std::string query, search_text());
    const std::chrono::microseconds began = since_start();
    FOOTNOTE_TRY(retrieve::SiteRetrieval found, ports_.retriever.retrieve(call(), {.workspace = question_.agent.workspace,
                                                                                   .agent = question_.agent.id,
                                                                                   .corpora = question_.corpora,
                                                                                   .query = std::move(query),
                                                                                   .page_url = question_.page_url,
                                                                                   .threshold = agent_.confidence_threshold,
                                                                                   .to_read = is_quoted()}));
    if (!found.found.failures.empty()) flag(kFlagDegraded);
    passages_ = static_cast<std::size_t>(std::ranges::count_if(found.found.hits, [this](const Hit& hit) { return is_grounding(hit); }));
    confidence_ = found.confidence;
    note_retrieval(std::move(found.found), began);
    return {};
  }

  /// Makes the page source 1: always for a model, for the reader only if it is relevant.
  Result<void> read_page() {
    if (question_.page_was_dropped) flag(kFlagPageDropped);
    std::vector<Hit>& hits = report().retrieval.hits;
    if (question_.page) {
      Hit page = page_hit(*question_.page, question_.page_url, hits.empty() ? 1 : hits.front().score);
      if (!page.chunk.text.empty()) {
        FOOTNOTE_CHECK(judge_page(page));
        if (page_is_relevant_ || ports().llm != nullptr) {
          has_page_ = true;
          hits.insert(hits.begin(), std::move(page));
        }
      }
    }
    fates().assign(hits.size(), Fate::kBelowGate);
    return {};
  }

  /// Judges the page like a passage, in parts: the best part counts.
  Result<void> judge_page(Hit& page) {
    const std::vector<std::string_view> texts = parts_to_judge(page.chunk.text);
    std::vector<Hit> parts = covered_parts(texts);
    GatePolicy policy = question_.corpora.at(0).profile.gate;
    FOOTNOTE_TRY(const bool judged, add_judgements(texts, parts));
    policy.known.judge = policy.known.judge && judged;
    policy.known.cosine = policy.known.cosine && !policy.known.judge;
    if (policy.known.cosine) {
      FOOTNOTE_TRY(policy.known.cosine, add_cosines(texts, parts));
    }
    for (Hit& part : parts) part.probability = retrieve::probability_of(part, policy);
    const auto best = std::ranges::max_element(parts, {}, &Hit::probability);
    if (best == parts.end()) return {};
    page.probability = best->probability;
    page.judged = best->judged;
    page_is_relevant_ = page.probability >= policy.probability_min;
    return {};
  }

  std::vector<Hit> covered_parts(const std::vector<std::string_view>& texts) const {
    const std::vector<std::string> wanted = retrieve::content_words(question_.text);
    std::vector<Hit> out(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) out[i].coverage = retrieve::share_of(wanted, retrieve::content_words(texts[i]));
    return out;
  }

  /// False: there is no judge, or it failed.
  Result<bool> add_judgements(const std::vector<std::string_view>& texts, std::vector<Hit>& parts) {
    if (ports_.judge == nullptr) return false;
    const auto judged =
        timed(TurnStage::kJudge, [&] { return ports_.judge->rerank(call().narrowed(ports_.judge_timeout), question_.text, texts); });
    if (!judged) {
      FOOTNOTE_CHECK(call().check());
      note_failure(TurnStage::kJudge, judged.error());
      return false;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].judged = Judgement{.raw = (*judged)[i].raw, .calibrated = (*judged)[i].calibrated};
    }
    return true;
  }

  /// False: there is no embedder, or it failed.
  Result<bool> add_cosines(const std::vector<std::string_view>& texts, std::vector<Hit>& parts) {
    if (ports_.embedder == nullptr) return false;
    const std::string_view question[] = {question_.text};
    const auto asked = ports_.embedder->embed(call(), question, {.kind = EmbedKind::kQuery, .overflow = Overflow::kTruncate});
    const auto read = ports_.embedder->embed(call(), texts, {.kind = EmbedKind::kPassage, .overflow = Overflow::kTruncate});
    if (!asked || !read) {
      FOOTNOTE_CHECK(call().check());
      note_failure(TurnStage::kEmbed, asked ? read.error() : asked.error());
      return false;
    }
    const std::vector<float>& wanted = asked->at(0).windows.at(0).values;
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].cosine = retrieve::cosine_of(wanted, (*read)[i].windows.at(0).values);
    return true;
  }

  void settle_confidence() {
    Visit& visit = this->visit();
    const bool is_grounded = passages_ > 0 || page_is_relevant_;
    visit.confidence = is_grounded ? confidence_ : kUngroundedConfidence;
    if (page_is_relevant_) visit.confidence = std::max(visit.confidence, kPageConfidence);
    if (!is_grounded) flag(kFlagNoSources);
    if (passages_ == 1 && !page_is_relevant_) flag(kFlagOneSource);
    const auto any_corpus = [this](const auto& holds) { return std::ranges::any_of(question_.corpora, holds); };
    if (any_corpus([](const retrieve::SearchedCorpus& corpus) { return corpus.profile.model_changed; })) flag(kFlagModelChanged);
    if (any_corpus([](const retrieve::SearchedCorpus& corpus) { return !corpus.profile.gate.calibrated; })) flag(kFlagUncalibrated);
    settle_low_confidence();
  }

  /// Compares the confidence with the agent's threshold, if it has one; otherwise with the threshold of the gate or the reader, whichever
  /// decided.
  void settle_low_confidence() {
    Visit& visit = this->visit();
    std::erase(visit.flags, kFlagBelowThreshold);
    if (visit.confidence < threshold_) flag(kFlagBelowThreshold);
    visit.low_confidence =
        has_flag(kFlagNoSources) || has_flag(kFlagOneSource) || has_flag(kFlagBelowThreshold) || has_flag(kFlagModelChanged);
  }

  /// The confidence is that of what was said. The reader that decided about its answer also says how sure it is, as at the other doors; its
  /// scale does not depend on other models.
  void settle_answer(const Answer& answer) {
    if (!answer.model.empty()) {
      visit().confidence = answer.citations.empty() ? std::min(visit().confidence, kUngroundedConfidence) : answer.confidence;
      return settle_low_confidence();
    }
    if (!reads_with_model() || answer.citations.empty()) return;
    threshold_ = agent_.confidence_threshold.value_or(question_.corpora.at(0).profile.gate.read_min);
    visit().confidence = page_is_relevant_ ? std::max(answer.confidence, kPageConfidence) : answer.confidence;
    for (const std::string_view judged_before : {kFlagUncalibrated, kFlagNoSources, kFlagOneSource})
      std::erase(visit().flags, judged_before);
    if (report().retrieval.hits.size() == 1 && !page_is_relevant_) flag(kFlagOneSource);
    settle_low_confidence();
  }

  /// kFlagNoAnswer: sources were found, but none answers the question.
  void settle_refusal() {
    if (passages_ > 0 || page_is_relevant_) flag(kFlagNoAnswer);
    visit().confidence = kUngroundedConfidence;
    visit().low_confidence = true;
  }

  Result<Outcome> answer_from(std::vector<SourceBlock> blocks) {
    if (blocks.empty() && report().retrieval.language_not_covered) return refuse(RefusalReason::kLanguageNotCovered, {});
    const double confidence = visit().confidence;
    const std::size_t characters_max = agent_.guardrails.max_chars;
    if (ports().llm == nullptr) {
      if (blocks.empty()) return refuse(RefusalReason::kNoRelevantContext, {});
      return quote(std::move(blocks), confidence, characters_max);
    }
    auto messages = timed(TurnStage::kPrompt, [&] {
      return prompt::build_visitor_prompt({.agent = agent_,
                                           .language = language_,
                                           .page_url = question_.page_url,
                                           .first_source = first_source(blocks),
                                           .history = history_,
                                           .question = question_.text,
                                           .sources = blocks,
                                           .nonce = random_base62(16)});
    });
    const std::vector<std::string> notes = unspoken_notes(blocks);
    std::vector<std::string_view> unspoken(prompt::kVisitorRules.begin(), prompt::kVisitorRules.end());
    unspoken.insert(unspoken.end(), notes.begin(), notes.end());
    return stream_model(std::move(messages), std::move(blocks), confidence, characters_max, unspoken);
  }

  /// The owner's own notes that must not be recited. A line that also occurs in a source may be shown: it is not secret.
  std::vector<std::string> unspoken_notes(const std::vector<SourceBlock>& blocks) const {
    std::vector<std::string> sources;
    sources.reserve(blocks.size());
    for (const SourceBlock& block : blocks) sources.push_back(fold_words(block.hit.chunk.text));
    std::vector<std::string> out;
    for (const std::string_view note : prompt::unspoken_notes(agent_.system_prompt)) {
      std::string& rest = out.emplace_back();
      for (const std::string_view line : split(note, '\n')) {
        const std::string words = fold_words(line);
        const auto has_it = [&](const std::string& source) { return source.find(words) != std::string::npos; };
        if (std::ranges::none_of(sources, has_it)) rest += std::string(line) + "\n";
      }
    }
    return out;
  }

  prompt::FirstSource first_source(const std::vector<SourceBlock>& blocks) const {
    if (has_page_) return prompt::FirstSource::kPageContext;
    const bool is_page = !blocks.empty() && retrieve::is_on_page(blocks.front().hit, question_.page_url);
    return is_page ? prompt::FirstSource::kPage : prompt::FirstSource::kOther;
  }

  std::optional<GapReason> gap_of(const Outcome& outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
      switch (refusal->reason) {
        case RefusalReason::kLanguageNotCovered:
        case RefusalReason::kNoRelevantContext: return GapReason::kNoRelevantContext;
        case RefusalReason::kLlmSelfRefusal: return GapReason::kLlmSelfRefusal;
        case RefusalReason::kBlockedByGuardrails: return GapReason::kBlockedByGuardrails;
      }
    }
    const auto* answer = std::get_if<Answer>(&outcome);
    if (answer == nullptr) return std::nullopt;
    std::vector<std::string_view> cited;
    for (const Citation& citation : answer->citations) {
      const auto block = std::ranges::find(answer->sources, citation.number, &SourceBlock::number);
      if (block != answer->sources.end()) cited.push_back(block->hit.chunk.text);
    }
    const bool fails = holds_failure_phrase(answer->text, language_, cited);
    if (fails && answer->citations.empty()) return GapReason::kFailurePhrase;
    if (visit().low_confidence) return GapReason::kLowConfidence;
    return fails ? std::optional(GapReason::kFailurePhrase) : std::nullopt;
  }

  const VisitorService::Ports& ports_;
  CuratedMatchers& curated_;
  const VisitorQuestion& question_;
  const AgentSettings& agent_;
  const VisitorHistory remembered_;
  double threshold_;  // threshold for the confidence
  const std::string language_;
  std::vector<ChatMessage> history_;
  std::size_t passages_ = 0;  // passages that passed the threshold
  double confidence_ = 0;     // best probability of these passages
  bool page_is_relevant_ = false;
  bool has_page_ = false;  // source 1 is the page as read by the widget
};

}  // namespace

VisitorService::VisitorService(const Ports& ports)
    : ports_(ports),
      metrics_(ports.metrics == nullptr ? nullptr : std::make_unique<TurnMetrics>(*ports.metrics)),
      curated_(std::make_unique<CuratedMatchers>(ports.agents)) {}

Result<TurnReport> VisitorService::answer(const CallContext& call, const VisitorQuestion& question, TurnListener& listener) const {
  if (question.corpora.empty()) return fail(ErrorCode::kFailedPrecondition, "the agent has nothing to search");
  return VisitorTurn(ports_, metrics_.get(), *curated_, call, question, listener).run();
}

}  // namespace footnote::answer
