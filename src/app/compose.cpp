#include "app/compose.h"

#include <algorithm>
#include <thread>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "access/key_text.h"
#include "api/kb_wire.h"
#include "app/calibrate.h"
#include "app/embedder_opener.h"
#include "app/store_checks.h"
#include "base/log.h"
#include "chunk/sentences.h"
#include "cli/command_line.h"
#include "cli/progress.h"
#include "http/url.h"
#include "providers/local/local_cache.h"
#include "providers/local/sentence_reader.h"
#include "providers/openai/openai_llm.h"
#include "providers/redis/redis_cache.h"
#include "upkeep/readiness.h"

namespace footnote::app {
namespace {

/// Connections to the model server that wait for the next call: as many as calls may well be under way at once.
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

answer::CheckPolicy check_policy(const Settings& settings) {
  using enum answer::CheckPolicy;
  for (const answer::CheckPolicy policy : {kMark, kDrop, kStop}) {
    if (settings.text(Setting::kAnswerCitationCheck) == answer::to_string(policy)) return policy;
  }
  return kOff;
}

/// A model server needs to be told which model; better said at start than by its error at the first question.
Result<void> check_llm(const Settings& settings) {
  if (!settings.is_set(Setting::kLlmBaseUrl) || settings.is_set(Setting::kLlmModel)) return {};
  return fail_field(ErrorCode::kInvalidArgument, "llm.model",
                    "LLM_BASE_URL is set (from {}) but LLM_MODEL is not; name the model to ask for",
                    settings.value(Setting::kLlmBaseUrl).place);
}

Result<proxy::Policy> proxy_policy(const Settings& settings) {
  proxy::Policy out;
  out.enabled = settings.flag(Setting::kProxyEnabled);
  out.top_k = static_cast<std::size_t>(settings.integer(Setting::kProxyTopK));
  out.lambda = settings.number(Setting::kProxyMmrLambda);
  out.sources_max = static_cast<std::size_t>(settings.integer(Setting::kProxyMaxSources));
  out.characters_max = static_cast<std::size_t>(settings.integer(Setting::kProxyMaxChars));
  out.history_bytes_max = static_cast<std::size_t>(settings.integer(Setting::kProxyHistoryBytes));
  out.no_hits = settings.text(Setting::kProxyNoHits) == "refuse" ? proxy::NoHits::kRefuse : proxy::NoHits::kPass;
  out.seed_form = settings.flag(Setting::kProxySeedForm);
  out.corpus = settings.text(Setting::kCorpus);
  auto rules = proxy::parse_model_rules(settings.text(Setting::kProxyModels));
  if (!rules) {
    return fail_field(ErrorCode::kInvalidArgument, "proxy.models", "proxy.models: {} (from {})", rules.error().message,
                      settings.value(Setting::kProxyModels).place);
  }
  out.rules = *std::move(rules);
  return out;
}

Result<void> check_url(const Settings& settings, Setting id) {
  if (!settings.is_set(id)) return {};
  const auto parsed = http::parse_url(settings.text(id));
  if (parsed) return {};
  return fail_field(ErrorCode::kInvalidArgument, spec_of(id).key, "{}: {} (from {})", spec_of(id).key, parsed.error().message,
                    settings.value(id).place);
}

std::unique_ptr<http::Client> make_qdrant_client(const Settings& settings, Metrics& metrics) {
  if (!settings.is_set(Setting::kProxyQdrantUrl)) return nullptr;
  http::ClientOptions options;
  options.name = "qdrant";
  options.silence_timeout = settings.duration(Setting::kProxyQdrantTimeout);
  options.connect_attempts = kModelConnectAttempts;
  options.breaker.failures_max = kModelFailuresMax;
  return std::make_unique<http::Client>(options, metrics);
}

std::unique_ptr<QdrantSearch> make_qdrant(const Settings& settings, http::Client* client) {
  if (client == nullptr) return nullptr;
  return std::make_unique<QdrantSearch>(*client, QdrantSearchOptions{.url = settings.text(Setting::kProxyQdrantUrl),
                                                                     .key = settings.text(Setting::kProxyQdrantKey),
                                                                     .timeout = settings.duration(Setting::kProxyQdrantTimeout)});
}

/// Vectors of another length than those that are stored under the same name would fail at the first question.
Result<void> check_stored_spaces(const CallContext& call, const CatalogStore& catalog, const EmbeddingSpace& space) {
  FOOTNOTE_TRY(const auto corpora, upkeep::all_corpora(call, catalog));
  for (const Corpus& corpus : corpora) {
    if (corpus.space.model_id != space.model_id || corpus.space.dimension == space.dimension) continue;
    return fail(ErrorCode::kFailedPrecondition,
                "the embedder {} gives vectors of {} numbers, corpus '{}' holds vectors of {} numbers by that name: set "
                "EMBEDDER_DIMENSION={}, or give the model another name (EMBEDDER_MODEL) and ingest anew",
                space.model_id, space.dimension, corpus.name, corpus.space.dimension, corpus.space.dimension);
  }
  return {};
}

/// One less than the engine's: the thread that asks works too.
std::size_t helper_thread_count(const Settings& settings) {
  const auto engine = static_cast<std::size_t>(settings.integer(Setting::kEngineThreads));
  const std::size_t all = engine != 0 ? engine : std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(all, 1, HelperThreads::kThreadsMax + 1) - 1;
}

/// Null where none are configured.
Result<std::shared_ptr<const Synonyms>> open_synonyms(const Settings& settings) {
  const auto path = settings.path(Setting::kKeywordSynonyms);
  if (path.empty()) return nullptr;
  auto text = read_file(path, Synonyms::kFileBytesMax);
  if (!text) return with_context(std::move(text).error(), fmt::format("keyword.synonyms: {}", path.string()));
  auto parsed = Synonyms::parse(*text);
  if (!parsed) return with_context(std::move(parsed).error(), fmt::format("keyword.synonyms: {}", path.string()));
  return std::make_shared<const Synonyms>(*std::move(parsed));
}

/// A Redis that does not answer is told of when it is first asked, and may come later.
Result<std::unique_ptr<Cache>> open_cache(const Settings& settings, const Clock& clock, Metrics& metrics) {
  if (settings.text(Setting::kCacheProvider) == "memory") {
    return std::make_unique<LocalCache>(clock, static_cast<std::size_t>(settings.integer(Setting::kCacheMemory)) << 20);
  }
  FOOTNOTE_TRY(RedisAddress address, parse_redis_url(settings.text(Setting::kCacheRedisUrl)));
  return std::make_unique<RedisCache>(std::move(address), RedisCacheOptions{}, &metrics);
}

}  // namespace

Result<std::unique_ptr<Composition>> Composition::open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                       ComposeOptions options) {
  if (!options.model_may_be_unnamed) FOOTNOTE_CHECK(check_llm(settings));
  FOOTNOTE_CHECK(check_url(settings, Setting::kProxyQdrantUrl));
  Opened opened{.metrics = std::move(options.metrics),
                .stores = {},
                .embedder = std::move(options.embedder),
                .agent_embedder = {},
                .reranker = {},
                .proxy = {},
                .synonyms = {},
                .cache = {}};
  FOOTNOTE_TRY(opened.proxy, proxy_policy(settings));
  if (!opened.metrics) opened.metrics = std::make_unique<Metrics>();
  FOOTNOTE_TRY(opened.reranker, open_reranker(settings, *opened.metrics));
  if (!opened.embedder.port) {
    FOOTNOTE_TRY(opened.embedder, open_embedder(call, settings, *opened.metrics));
  }
  if (options.notes == AgentNotes::kOn) {
    FOOTNOTE_TRY(opened.agent_embedder, open_agent_embedder(call, settings, *opened.metrics));
  }
  FOOTNOTE_TRY(opened.synonyms, open_synonyms(settings));
  FOOTNOTE_TRY(const cpu::CpuLevel level, cpu_level_of(settings));
  FOOTNOTE_TRY(opened.stores, upkeep::Stores::open(call, std::move(folder), settings.text(Setting::kWorkspace)));
  FOOTNOTE_CHECK(check_stored_spaces(call, opened.stores->catalog(), opened.embedder.port->space()));
  FOOTNOTE_TRY(opened.cache, open_cache(settings, opened.stores->clock(), *opened.metrics));
  std::unique_ptr<Composition> parts(new Composition(std::move(opened), settings, level, options.indexes));
  FOOTNOTE_CHECK(parts->open_keys(call, settings));
  FOOTNOTE_CHECK(parts->open_widget_door(call, settings));
  return parts;
}

Result<void> Composition::open_keys(const CallContext& call, const Settings& settings) {
  const access::KeysOptions options{.requests_per_minute = settings.integer(Setting::kServerRequestsPerMinute)};
  FOOTNOTE_TRY(keys_, access::Keys::open(call, stores_->catalog(), stores_->clock(), owner_token_, options));
  return {};
}

Result<void> Composition::open_widget_door(const CallContext& call, const Settings& settings) {
  FOOTNOTE_TRY(const std::string secret, stores_->catalog().key_pepper(call));
  widget_door_ =
      std::make_unique<api::WidgetDoor>(secret, api::LiveStreams::Options{.resume_grace = settings.duration(Setting::kStreamResumeGrace)});
  return {};
}

Composition::Composition(Opened opened, const Settings& settings, cpu::CpuLevel level, Indexes indexes)
    : metrics_(std::move(opened.metrics)),
      stores_(std::move(opened.stores)),
      owner_token_(access::make_owner_text()),
      embedder_(std::move(opened.embedder)),
      agent_embedder_(std::move(opened.agent_embedder)),
      reranker_(std::move(opened.reranker)),
      helpers_(helper_thread_count(settings)),
      vectors_(level,
               {.unsaved_bytes_max = static_cast<std::uint64_t>(settings.integer(Setting::kIndexMemoryBudget)) << 20,
                .save = [this](const CallContext& call, CorpusId corpus) { save_index(call, corpus); }},
               &helpers_),
      graphs_(vectors_),
      keywords_(
          {.k1 = static_cast<float>(settings.number(Setting::kKeywordK1)), .b = static_cast<float>(settings.number(Setting::kKeywordB))},
          {.words = std::move(opened.synonyms), .corpus_name = [this](CorpusId corpus) { return corpus_name(corpus); }}),
      codes_(stores_->chunks(), upkeep::code_file_bytes(settings)),
      index_files_(stores_->folder().path(), stores_->chunks(), saved_indexes(settings)),
      reader_(std::make_unique<SentenceReader>(embedder(), chunk::split_sentences)),
      client_(make_client(settings, *metrics_)),
      llm_(make_llm(settings, client_.get())),
      follow_up_llm_(make_follow_up_llm(settings, client_.get())),
      events_(stores_->events(), *metrics_),
      sync_(stores_->chunks(), {&vectors_, &keywords_}, stores_->clock()),
      reconciler_(stores_->chunks(), {&vectors_, &keywords_}, sync_, index_files_, *metrics_),
      ingestor_(stores_->chunks(), embedder(), indexes == Indexes::kOn ? &sync_ : nullptr),
      lag_({&vectors_, &keywords_}, stores_->clock(), *metrics_),
      point_search_(stores_->points(), vectors_),
      point_writer_({stores_->chunks(), stores_->catalog(), stores_->points(), sync_}, point_search_),
      snapshots_(stores_->folder().path(), stores_->points(), point_writer_, stores_->clock()),
      memories_({.points = stores_->points(),
                 .catalog = stores_->catalog(),
                 .search = point_search_,
                 .writer = point_writer_,
                 .embedder = agent_embedder_.port ? *agent_embedder_.port : embedder(),
                 .clock = stores_->clock()},
                {.vector_size = static_cast<int>(settings.integer(Setting::kAgentVectorSize))}),
      late_(stores_->chunks(), &codes_, level, &helpers_),
      retriever_({.embedder = embedder(),
                  .vectors = vectors_,
                  .keywords = keywords_,
                  .chunks = stores_->chunks(),
                  .late = &late_,
                  .judge = reranker_.for_ranking(),
                  .judge_timeout = settings.duration(Setting::kJudgeTimeout),
                  .metrics = metrics_.get(),
                  .helpers = &helpers_}),
      proxy_policy_(std::move(opened.proxy)),
      qdrant_client_(make_qdrant_client(settings, *metrics_)),
      qdrant_(make_qdrant(settings, qdrant_client_.get())),
      source_finder_({.retriever = retriever_,
                      .catalog = stores_->catalog(),
                      .points = stores_->points(),
                      .embedder = embedder(),
                      .elsewhere = search_elsewhere()},
                     proxy_policy_),
      upstream_url_(settings.text(Setting::kLlmBaseUrl)),
      upstream_key_(settings.text(Setting::kLlmApiKey)),
      judge_name_(reranker_name(settings)),
      free_bytes_min_(static_cast<std::uint64_t>(settings.integer(Setting::kServerFreeDisk)) << 20),
      citation_check_(embedder(), reranker_.provided.port.get()),
      answers_({.retriever = retriever_,
                .reader = *reader_,
                .llm = llm_.get(),
                .conversations = stores_->conversations(),
                .clock = stores_->clock(),
                .metrics = metrics_.get(),
                .checking = {&citation_check_, check_policy(settings), &check_lane_},
                .events = &events_}),
      cache_(std::move(opened.cache)),
      site_retriever_({.retriever = retriever_,
                       .vectors = vectors_,
                       .keywords = keywords_,
                       .chunks = stores_->chunks(),
                       .cache = cache_.get(),
                       .model = embedder().space().model_id,
                       .judge = judge_name_}),
      visitors_({.retriever = site_retriever_,
                 .reader = *reader_,
                 .llm = llm_.get(),
                 .judge = reranker_.for_ranking(),
                 .conversations = stores_->conversations(),
                 .agents = stores_->agents(),
                 .cache = cache_.get(),
                 .clock = stores_->clock(),
                 .metrics = metrics_.get(),
                 .checking = {&citation_check_, check_policy(settings), &check_lane_},
                 .judge_timeout = settings.duration(Setting::kJudgeTimeout),
                 .events = &events_,
                 .follow_ups = {follow_up_llm_.get(), settings.duration(Setting::kAnswerFollowUpTimeout)}}),
      rebuilder_({*stores_, &embedder(), vectors_, keywords_, codes_, sync_, index_files_}, embedder_opener(settings, *metrics_)),
      copies_(stores_->folder().path(), stores_->store()),
      webhook_addresses_(settings.flag(Setting::kWebhookPrivateAddresses) ? http::Addresses::kAny : http::Addresses::kPublic) {
  metrics_
      ->gauge("footnote_build_info", "Always 1; its labels say what runs",
              {{"version", std::string(cli::version())}, {"embedder", embedder().space().model_id}})
      .set(1);
}

Composition::~Composition() = default;

proxy::SearchElsewhere Composition::search_elsewhere() {
  if (!qdrant_) return {};
  return [this](const CallContext& call, std::string_view collection, std::span<const float> vector,
                std::size_t limit) -> Result<std::vector<proxy::Candidate>> {
    FOOTNOTE_TRY(auto points, qdrant_->nearest(call, collection, vector, limit));
    std::vector<proxy::Candidate> out;
    for (RemotePoint& point : points) {
      out.push_back({std::move(point.url), std::move(point.title), std::move(point.text), point.score, std::move(point.vector)});
    }
    return out;
  };
}

Result<bool> Composition::would_answer(const CallContext& call, const AgentSettings& settings, std::string_view question) const {
  for (const CorpusId id : settings.corpora) {
    FOOTNOTE_TRY(const Corpus corpus, stores_->catalog().corpus(call, id));
    const retrieve::RetrieveOptions options{.profile = api::profile_for(corpus, kAskProfile, judge_name_)};
    FOOTNOTE_TRY(const auto retrieval, retriever_.retrieve(call, id, question, options));
    const double wanted = settings.confidence_threshold.value_or(kConfidenceThresholdDefault);
    if (retrieval.gate.grounded && retrieval.gate.confidence >= wanted) return true;
  }
  return false;
}

void Composition::start_agent_work() {
  after_ingest_ = std::make_unique<upkeep::AfterIngest>(
      upkeep::AfterIngest::Ports{.agents = stores_->agents(),
                                 .conversations = stores_->conversations(),
                                 .webhooks = stores_->webhooks(),
                                 .clock = stores_->clock(),
                                 .would_answer = [this](const CallContext& call, WorkspaceId, const AgentSettings& settings,
                                                        std::string_view question) { return would_answer(call, settings, question); }});
  ingestor_.on_change([this](const Corpus& corpus) { after_ingest_->changed(corpus); });
  const upkeep::WebhookSender::Ports ports{.webhooks = stores_->webhooks(),
                                           .conversations = stores_->conversations(),
                                           .catalog = stores_->catalog(),
                                           .clock = stores_->clock(),
                                           .metrics = *metrics_};
  webhooks_ = std::make_unique<upkeep::WebhookSender>(ports, upkeep::WebhookSender::Options{.addresses = webhook_addresses_});
  webhooks_->start();
}

std::vector<SavedIndex*> Composition::saved_indexes(const Settings& settings) {
  std::vector<SavedIndex*> out{&vectors_, &keywords_, &graphs_};
  if (upkeep::code_file_bytes(settings) > 0) out.push_back(&codes_);
  return out;
}

/// Empty when it can't be told: then only what stands for words everywhere counts.
std::string Composition::corpus_name(CorpusId corpus) const {
  const auto found = stores_->catalog().corpus({}, corpus);
  return found ? found->name : std::string();
}

void Composition::save_index(const CallContext& call, CorpusId corpus) {
  const auto corpora = upkeep::all_corpora(call, catalog());
  if (!corpora) return log(LogLevel::kWarn, "app", "an index was not saved", {{"error", corpora.error().message}});
  const auto found = std::ranges::find(*corpora, corpus, &Corpus::id);
  if (found != corpora->end()) index_files_.save(call, *found, upkeep::IndexFiles::When::kAnythingChanged);
}

api::Services Composition::services(std::vector<std::string> example_questions) {
  std::optional<api::ChatUpstream> upstream;
  if (client_) upstream.emplace(*client_, upstream_url_, upstream_key_);
  return {.answers = answers_,
          .retriever = retriever_,
          .ingestor = ingestor_,
          .catalog = stores_->catalog(),
          .chunks = stores_->chunks(),
          .conversations = stores_->conversations(),
          .embedder = embedder(),
          .reranker = reranker_.provided.port.get(),
          .judge = judge_name_,
          .points = {.points = stores_->points(),
                     .search = point_search_,
                     .writer = point_writer_,
                     .snapshots = snapshots_,
                     .memories = memories_,
                     .catalog = stores_->catalog(),
                     .chunks = stores_->chunks(),
                     .embedder = embedder(),
                     .forget_corpus =
                         [this](const CallContext& call, CorpusId corpus) {
                           // They only hold memory and a file: nothing can be done about a failure that is worth a word to the client.
                           (void)vectors_.drop(call, corpus);
                           (void)keywords_.drop(call, corpus);
                           (void)codes_.drop(call, corpus);
                           index_files_.remove(corpus);
                         }},
          .memories = memories_,
          .keys = *keys_,
          .metrics = *metrics_,
          .clock = stores_->clock(),
          .home = stores_->workspace(),
          .version = std::string(cli::version()),
          .not_ready_reasons = [this] { return upkeep::not_ready_reasons(*stores_, free_bytes_min_); },
          .refresh_metrics =
              [this](const CallContext& call) {
                if (const auto corpora = upkeep::all_corpora(call, catalog())) lag_.refresh(call, *corpora);
              },
          .example_questions = std::move(example_questions),
          .rebuilds = &rebuilder_,
          .check_store =
              [this](const CallContext& call, WorkspaceId workspace) {
                const auto reach = [this](const CallContext& within, upkeep::Stores&, const Corpus& corpus) {
                  return sync_.sync(within, corpus.id);
                };
                return check_stores(call, *stores_, workspace, {embedder().space().model_id, embedder().code_form(), reach});
              },
          .calibration = api::CalibrateServices{.catalog = stores_->catalog(),
                                                .calibrate =
                                                    [this](const CallContext& call, const Corpus& corpus, double rate,
                                                           const api::OnQuestion& on_question) {
                                                      const CalibrationParts parts{.catalog = stores_->catalog(),
                                                                                   .chunks = stores_->chunks(),
                                                                                   .retriever = retriever_,
                                                                                   .embedder = embedder(),
                                                                                   .judge = judge_name_,
                                                                                   .clock = stores_->clock()};
                                                      return calibrate(call, parts, corpus, rate, on_question);
                                                    }},
          .proxy = api::ProxyServices{.answers = answers_,
                                      .catalog = stores_->catalog(),
                                      .embedder = embedder(),
                                      .judge = judge_name_,
                                      .finder = source_finder_,
                                      .policy = proxy_policy_,
                                      .upstream = std::move(upstream)},
          .copy_store = [this](const CallContext& call) { return copies_.make(call); },
          .agents = api::AgentServices{.agents = stores_->agents(),
                                       .conversations = stores_->conversations(),
                                       .webhooks = stores_->webhooks(),
                                       .catalog = stores_->catalog(),
                                       .embedder = embedder(),
                                       .cache = *cache_},
          .widget = api::WidgetServices{.visitors = visitors_,
                                        .agents = stores_->agents(),
                                        .conversations = stores_->conversations(),
                                        .catalog = stores_->catalog(),
                                        .chunks = stores_->chunks(),
                                        .embedder = embedder(),
                                        .judge = judge_name_,
                                        .keys = *keys_,
                                        .door = *widget_door_,
                                        .clock = stores_->clock(),
                                        .home = stores_->workspace()}};
}

namespace {

/// Watches one corpus's index grow while another thread fills it.
class BuildWatch {
 public:
  BuildWatch(const Composition& parts, const Corpus& corpus, const cli::Terminal& terminal) {
    if (!terminal.progress) return;
    thread_ = std::jthread([&parts, corpus, width = terminal.width](const std::stop_token& stop) {
      constexpr std::chrono::milliseconds kStep{100};
      constexpr int kStepsBeforeShown = 10;  // most indexes are there sooner
      cli::ProgressBar bar("commits indexed", width, [](std::string_view text) { cli::write_err(text); });
      for (int step = 0; !stop.stop_requested(); ++step) {
        std::this_thread::sleep_for(kStep);
        if (step < kStepsBeforeShown) continue;
        const auto reached = parts.vectors().generation({}, corpus.id);
        if (reached) bar.update(static_cast<std::uint64_t>(*reached), static_cast<std::uint64_t>(corpus.generation));
      }
    });
  }

 private:
  std::jthread thread_;
};

/// What reading indexes took for a while lies in the arenas of threads that are gone: no one else would use it.
void give_back_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace

Result<void> build_indexes(const CallContext& call, Composition& parts, const cli::Terminal& terminal) {
  FOOTNOTE_TRY(auto corpora, upkeep::all_corpora(call, parts.catalog()));
  FOOTNOTE_CHECK(upkeep::finish_rebuilds(call, parts.stores(), parts.embedder(), corpora));
  FOOTNOTE_TRY(corpora, upkeep::all_corpora(call, parts.catalog()));
  parts.index_files().tidy(corpora);
  for (const Corpus& corpus : corpora) {
    const BuildWatch watch(parts, corpus, terminal);
    parts.index_files().load(call, corpus);
    FOOTNOTE_CHECK(parts.sync().sync(call, corpus.id));
    FOOTNOTE_CHECK(parts.reconciler().reconcile(call, corpus));
    parts.index_files().save(call, corpus, upkeep::IndexFiles::When::kEnoughChanged);
  }
  give_back_memory();
  return {};
}

void save_indexes(const CallContext& call, Composition& parts, upkeep::IndexFiles::When when) {
  const auto corpora = upkeep::all_corpora(call, parts.catalog());
  if (!corpora) return log(LogLevel::kWarn, "app", "the indexes were not saved", {{"error", corpora.error().message}});
  for (const Corpus& corpus : *corpora) parts.index_files().save(call, corpus, when);
}

}  // namespace footnote::app
