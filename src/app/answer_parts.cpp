#include "app/answer_parts.h"

#include "chunk/sentences.h"
#include "providers/local/sentence_reader.h"
#include "providers/openai/openai_llm.h"

namespace footnote::app {
namespace {

/// Idle connections kept to the model server: as many as calls may run at once.
constexpr std::size_t kModelConnectionsKept = 256;
constexpr int kModelConnectAttempts = 2;
constexpr int kModelFailuresMax = 5;

std::unique_ptr<http::Client> make_client(const Settings& settings, Metrics& metrics) {
  if (!settings.is_set(Setting::kLlmBaseUrl)) return nullptr;
  http::ClientOptions options;
  options.name = "openai";
  options.silence_timeout = settings.duration(Setting::kLlmTimeout);
  options.ca_file = settings.text(Setting::kLlmCaFile);
  options.idle_connections_max = kModelConnectionsKept;
  options.connect_attempts = kModelConnectAttempts;
  options.breaker.failures_max = kModelFailuresMax;
  return std::make_unique<http::Client>(options, metrics);
}

std::unique_ptr<Llm> make_llm(const Settings& settings, http::Client* client) {
  if (client == nullptr || !settings.is_set(Setting::kLlmModel)) return nullptr;
  return std::make_unique<OpenAiLlm>(*client, OpenAiOptions{.base_url = settings.text(Setting::kLlmBaseUrl),
                                                            .api_key = settings.text(Setting::kLlmApiKey),
                                                            .model = settings.text(Setting::kLlmModel)});
}

std::unique_ptr<Llm> make_follow_up_llm(const Settings& settings, http::Client* client) {
  if (client == nullptr || settings.text(Setting::kAnswerFollowUps) != "model") return nullptr;
  const bool is_named = settings.is_set(Setting::kAnswerFollowUpModel);
  if (!is_named && !settings.is_set(Setting::kLlmModel)) return nullptr;
  return std::make_unique<OpenAiLlm>(*client,
                                     OpenAiOptions{.base_url = settings.text(Setting::kLlmBaseUrl),
                                                   .api_key = settings.text(Setting::kLlmApiKey),
                                                   .model = settings.text(is_named ? Setting::kAnswerFollowUpModel : Setting::kLlmModel)});
}

retrieve::Translate translate_with(answer::QuestionTranslator* translator) {
  if (translator == nullptr) return {};
  return [translator](const CallContext& call, std::string_view question, std::string_view language) {
    return translator->translate(call, question, language);
  };
}

answer::CheckPolicy check_policy(const Settings& settings) {
  using enum answer::CheckPolicy;
  for (const answer::CheckPolicy policy : {kMark, kDrop, kStop}) {
    if (settings.text(Setting::kAnswerCitationCheck) == answer::to_string(policy)) return policy;
  }
  return kOff;
}

retrieve::SidePolicy side_policy(const Settings& settings) {
  return {.graph = settings.flag(Setting::kKbGraph),
          .rejected = settings.flag(Setting::kKbRejected),
          .rejected_cosine_min = settings.number(Setting::kKbRejectedMin)};
}

/// A model server needs a model name; fail at start rather than at the first question.
Result<void> check_llm(const Settings& settings) {
  if (!settings.is_set(Setting::kLlmBaseUrl) || settings.is_set(Setting::kLlmModel)) return {};
  return fail_field(ErrorCode::kInvalidArgument, "llm.model",
                    "LLM_BASE_URL is set (from {}) but LLM_MODEL is not; name the model to ask for",
                    settings.value(Setting::kLlmBaseUrl).place);
}

}  // namespace

Result<std::unique_ptr<AnswerParts>> AnswerParts::open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                       AnswerOptions options) {
  if (!options.model_may_be_unnamed) FOOTNOTE_CHECK(check_llm(settings));
  FOOTNOTE_TRY(auto base, IngestParts::open(call, settings, std::move(folder), std::move(options.ingest)));
  FOOTNOTE_TRY(auto rerankers, open_reranker(settings, base->metrics()));
  // Also beside a language model, whose texts that are no answer it replaces.
  FOOTNOTE_TRY(std::unique_ptr<Reader> reader, open_model_reader(settings));
  return std::unique_ptr<AnswerParts>(new AnswerParts(std::move(base), std::move(rerankers), std::move(reader), settings));
}

AnswerParts::AnswerParts(std::unique_ptr<IngestParts> base, Rerankers rerankers, std::unique_ptr<Reader> reader, const Settings& settings)
    : base_(std::move(base)),
      rerankers_(std::move(rerankers)),
      sentence_reader_(std::make_unique<SentenceReader>(base_->embedder(), chunk::split_sentences)),
      model_reader_(std::move(reader)),
      client_(make_client(settings, base_->metrics())),
      llm_(make_llm(settings, client_.get())),
      follow_up_llm_(make_follow_up_llm(settings, client_.get())),
      follow_ups_{follow_up_llm_.get(), settings.duration(Setting::kAnswerFollowUpTimeout)},
      translator_(llm_ == nullptr ? nullptr : std::make_unique<answer::QuestionTranslator>(*llm_)),
      events_(base_->stores().events(), base_->metrics()),
      late_(base_->chunks(), &base_->codes(), base_->cpu_level(), &base_->helpers()),
      retriever_({.embedder = base_->embedder(),
                  .vectors = base_->vectors(),
                  .keywords = base_->keywords(),
                  .chunks = base_->chunks(),
                  .late = &late_,
                  .judge = rerankers_.for_ranking(),
                  .judge_timeout = settings.duration(Setting::kJudgeTimeout),
                  .metrics = &base_->metrics(),
                  .translate = translate_with(translator_.get()),
                  .helpers = &base_->helpers()}),
      corpora_(base_->catalog(), base_->embedder(), reranker_name(settings)),
      citation_check_(base_->embedder(), rerankers_.provided.port.get()),
      checking_{&citation_check_, check_policy(settings), &check_lane_},
      answers_({.retriever = retriever_,
                .reader = *sentence_reader_,
                .model_reader = model_reader_.get(),
                .llm = llm_.get(),
                .conversations = base_->stores().conversations(),
                .clock = base_->clock(),
                .metrics = &base_->metrics(),
                .checking = checking_,
                .events = &events_,
                .follow_ups = follow_ups_,
                .edges = &base_->stores().edges(),
                .side = side_policy(settings),
                .mask_pii = settings.flag(Setting::kKbMaskPii)}) {}

}  // namespace footnote::app
