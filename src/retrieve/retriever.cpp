#include "retrieve/retriever.h"

#include "base/assert.h"
#include "base/text.h"
#include "base/utf8.h"
#include "retrieve/query_run.h"

namespace footnote::retrieve {

namespace {

std::vector<Histogram*> stage_histograms(Metrics& metrics) {
  std::vector<Histogram*> out;
  for (const TurnStage stage : kRetrievalStages) {
    out.push_back(&metrics.histogram("footnote_retrieval_duration_seconds", "Time of one stage of retrieval",
                                     {{"stage", std::string(to_string(stage))}}));
  }
  return out;
}

}  // namespace

Retriever::Retriever(const Ports& ports) : ports_(ports) {
  if (ports.metrics != nullptr) stage_seconds_ = stage_histograms(*ports.metrics);
}

Result<Retrieval> Retriever::retrieve(const CallContext& call, CorpusId corpus, std::string_view question,
                                      const RetrieveOptions& options) const {
  question = trim(question);
  if (question.empty()) return fail_field(ErrorCode::kInvalidArgument, "question", "the question is empty");
  if (count_code_points(question) > kQuestionCharactersMax) {
    return fail_field(ErrorCode::kTooLarge, "question", "the question is over the limit of {} characters", kQuestionCharactersMax);
  }
  FOOTNOTE_TRY(Retrieval retrieval, run_query(ports_, call, corpus, question, options));
  if (retrieval.language_not_covered && ports_.translate) FOOTNOTE_CHECK(retrieve_translated(call, corpus, question, options, retrieval));
  FOOTNOTE_ASSERT(retrieval.timings.size() == std::size(kRetrievalStages));
  for (std::size_t i = 0; i < stage_seconds_.size(); ++i) {
    stage_seconds_[i]->observe(std::chrono::duration<double>(retrieval.timings[i].took).count());
  }
  return retrieval;
}

/// If the translation fails, the retrieval is unchanged except that it lists the failure.
Result<void> Retriever::retrieve_translated(const CallContext& call, CorpusId corpus, std::string_view question,
                                            const RetrieveOptions& options, Retrieval& retrieval) const {
  auto translated = ports_.translate(call, question, kTranslationLanguage);
  if (!translated) {
    FOOTNOTE_CHECK(call.check());
    retrieval.failures.push_back({TurnStage::kFollowUp, std::move(translated).error()});
    return {};
  }
  FOOTNOTE_TRY(Retrieval again, run_query(ports_, call, corpus, *translated, options));
  again.foreign_language = retrieval.foreign_language;
  again.translation = *std::move(translated);
  retrieval = std::move(again);
  return {};
}

}  // namespace footnote::retrieve
