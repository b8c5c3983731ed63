#include "app/compose_models.h"

#include "app/coded_embedder.h"
#include "base/log.h"
#include "base/text.h"
#include "http/url.h"
#include "models/folder.h"
#include "providers/local/block_reader.h"
#include "providers/local/late_models.h"
#include "providers/local/local_embedder.h"
#include "providers/local/local_judge.h"
#include "providers/local/local_reranker.h"
#include "providers/openai/openai_embedder.h"
#include "providers/remote/embed_service_embedder.h"
#include "providers/remote/remote_rerankers.h"

namespace footnote::app {
namespace {

/// 100 vectors of 4,096 numbers, as long decimals.
constexpr std::size_t kResponseBytesMax = 32 << 20;

/// The settings of one remote provider.
struct ServerSettings {
  Setting provider, url, key, timeout;
  std::string_view name;    ///< For messages: "the embedder".
  std::string_view prefix;  ///< Prefix of its variables, and its name in the metrics: "EMBEDDER".
};
constexpr ServerSettings kEmbedderServer{Setting::kEmbedderProvider, Setting::kEmbedderUrl, Setting::kEmbedderKey,
                                         Setting::kEmbedderTimeout,  "the embedder",        "EMBEDDER"};
constexpr ServerSettings kRerankerServer{Setting::kRerankerProvider, Setting::kRerankerUrl, Setting::kRerankerKey,
                                         Setting::kRerankerTimeout,  "the reranker",        "RERANKER"};

Result<void> require(const Settings& settings, Setting provider, Setting needed, std::string_view what) {
  if (settings.is_set(needed)) return {};
  return fail_field(ErrorCode::kInvalidArgument, spec_of(needed).key, "{} is {} (from {}) but {} is not set; {}", spec_of(provider).key,
                    settings.text(provider), settings.value(provider).place, spec_of(needed).env, what);
}

Result<void> check_url(const Settings& settings, Setting setting) {
  const SettingValue& url = settings.value(setting);
  if (const auto parsed = http::parse_url(url.text); !parsed) {
    return fail_field(ErrorCode::kInvalidArgument, spec_of(setting).key, "{}: {} (from {})", spec_of(setting).key, parsed.error().message,
                      url.place);
  }
  return {};
}

Result<UpstreamOptions> upstream_options(const Settings& settings, const ServerSettings& server) {
  FOOTNOTE_CHECK(require(settings, server.provider, server.url, "name the server's address"));
  FOOTNOTE_CHECK(check_url(settings, server.url));
  return UpstreamOptions{.name = std::string(server.name),
                         .settings = std::string(server.prefix),
                         .base_url = settings.text(server.url),
                         .key = settings.text(server.key),
                         .timeout = settings.duration(server.timeout)};
}

std::unique_ptr<http::Client> make_client(std::string name, std::chrono::milliseconds timeout, Metrics& metrics) {
  http::ClientOptions options;
  options.name = std::move(name);
  options.silence_timeout = timeout;
  options.response_bytes_max = kResponseBytesMax;
  return std::make_unique<http::Client>(options, metrics);
}

Result<Rerankers> open_cloudflare(const Settings& settings, Metrics& metrics) {
  FOOTNOTE_CHECK(require(settings, Setting::kRerankerProvider, Setting::kRerankerAccount, "name the account's id"));
  const bool has_url = settings.is_set(Setting::kRerankerUrl);
  if (has_url) FOOTNOTE_CHECK(check_url(settings, Setting::kRerankerUrl));
  UpstreamOptions upstream{.name = std::string(kRerankerServer.name),
                           .settings = std::string(kRerankerServer.prefix),
                           .base_url = has_url ? settings.text(Setting::kRerankerUrl) : std::string(CloudflareReranker::kDefaultUrl),
                           .key = settings.text(Setting::kRerankerKey),
                           .timeout = settings.duration(Setting::kRerankerTimeout)};
  const SettingValue& named = settings.value(Setting::kRerankerModel);
  Rerankers out;
  out.provided.client = make_client("reranker", upstream.timeout, metrics);
  out.provided.port = std::make_unique<CloudflareReranker>(
      *out.provided.client, std::move(upstream), settings.text(Setting::kRerankerAccount),
      named.origin == Origin::kDefault ? CloudflareReranker::kDefaultModel : std::string_view(named.text));
  return out;
}

}  // namespace

Result<cpu::CpuLevel> cpu_level_of(const Settings& settings) {
  const std::string& word = settings.text(Setting::kEngineCpu);
  if (word == "auto") return cpu::best_cpu_level();
  FOOTNOTE_TRY(const cpu::CpuLevel level, cpu::parse_cpu_level(word));
  FOOTNOTE_CHECK(cpu::require_cpu_level(level));
  return level;
}

namespace {

Result<nn::EncoderOptions> encoder_options(const Settings& settings) {
  nn::EncoderOptions options;
  options.threads = static_cast<std::size_t>(settings.integer(Setting::kEngineThreads));
  // If unset, the encoder itself picks a level that computes correctly.
  if (settings.text(Setting::kEngineCpu) != "auto") {
    FOOTNOTE_TRY(options.level, cpu_level_of(settings));
  }
  return options;
}

std::vector<std::string> languages_of(const Settings& settings, std::string_view model) {
  if (!settings.is_set(Setting::kModelsLanguages)) {
    return model == spec_of(Setting::kModelsName).default_text ? std::vector<std::string>{"en"} : std::vector<std::string>{};
  }
  std::vector<std::string> out;
  for (const std::string_view code : split(settings.text(Setting::kModelsLanguages), ',')) out.emplace_back(trim(code));
  return out;
}

Result<void> set_late(const Settings& settings, LocalEmbedder& embedder) {
  const std::string& codes = settings.text(Setting::kLateCodes);
  if (codes == "off") return {};
  FOOTNOTE_TRY(auto model, find_late_model(embedder.encoder().files()));
  if (!model) {
    log(LogLevel::kInfo, "app", "this model has no file of token codes, so late interaction is off; `footnote models fit` creates one",
        {{"model", embedder.space().model_id}});
    return {};
  }
  const late::CoderOptions options{.signs = codes == "half" ? late::Signs::kProjected : late::Signs::kFull,
                                   .drop_frequent = settings.text(Setting::kLateDropFrequent) == "true"};
  return embedder.set_late(*std::move(model), options);
}

}  // namespace

namespace {

Result<std::unique_ptr<LocalEmbedder>> open_embedder_in(const Settings& settings, const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const nn::EncoderOptions options, encoder_options(settings));
  auto opened = LocalEmbedder::open(folder, options);
  if (!opened) return std::unexpected(models::advise(std::move(opened).error(), folder.filename().string()));
  FOOTNOTE_CHECK(set_late(settings, **opened));
  (*opened)->set_languages(languages_of(settings, folder.filename().string()));
  return opened;
}

}  // namespace

Result<std::unique_ptr<LocalEmbedder>> open_local_embedder(const Settings& settings) {
  FOOTNOTE_TRY(const auto folder, models::find_model_folder(settings));
  return open_embedder_in(settings, folder);
}

Result<Provided<Embedder>> open_named_embedder(const Settings& settings, std::string_view model) {
  FOOTNOTE_TRY(const auto folder, models::find_named_model(settings, models::model_folder_name(model)));
  Provided<Embedder> out;
  FOOTNOTE_TRY(out.port, open_embedder_in(settings, folder));
  return out;
}

namespace {

/// Adds token codes of the built-in model to another server's vectors, if the model is on this machine.
std::unique_ptr<Embedder> with_local_codes(const Settings& settings, std::unique_ptr<Embedder> vectors) {
  if (settings.text(Setting::kLateLocalCodes) != "true" || settings.text(Setting::kLateCodes) == "off") return vectors;
  auto local = open_local_embedder(settings);
  if (!local) {
    log(LogLevel::kWarn, "app", "the built-in model can't be loaded: no token codes are made, so late interaction is off",
        {{"error", local.error().message}});
    return vectors;
  }
  if ((*local)->code_form() == 0) return vectors;
  return std::make_unique<CodedEmbedder>(std::move(vectors), *std::move(local));
}

/// What the judge reads of a passage while a user waits.
LocalJudge::Reading ranking_reading(std::string_view windows) {
  if (windows == "all") return {};
  return {.windows_max = 1, .excerpt_bytes = windows == "first" ? 0 : LocalJudge::kExcerptBytes};
}

/// Opens the judge if the model has its heads, else a cross-encoder.
Result<Rerankers> open_local_reranker(const Settings& settings) {
  FOOTNOTE_TRY(const auto folder, models::find_model_folder(settings, Setting::kRerankerModel));
  FOOTNOTE_TRY(const nn::EncoderOptions options, encoder_options(settings));
  const auto advised = [&](Error error) { return std::unexpected(models::advise(std::move(error), folder.filename().string())); };
  auto opened = nn::PairReader::open(folder, options);
  Rerankers out;
  if (opened) {
    const std::shared_ptr<const nn::PairReader> reader = *std::move(opened);
    out.provided.port = std::make_unique<LocalJudge>(reader, LocalJudge::Reading{});
    out.quick = std::make_unique<LocalJudge>(reader, ranking_reading(settings.text(Setting::kJudgeWindows)));
    return out;
  }
  if (opened.error().code != ErrorCode::kUnsupported) return advised(std::move(opened).error());
  auto cross_encoder = LocalReranker::open(folder, options);
  if (!cross_encoder) return advised(std::move(cross_encoder).error());
  out.provided.port = *std::move(cross_encoder);
  return out;
}

}  // namespace

Result<Provided<Embedder>> open_embedder(const CallContext& call, const Settings& settings, Metrics& metrics) {
  Provided<Embedder> out;
  if (!models::embeds_elsewhere(settings)) {
    FOOTNOTE_TRY(out.port, open_local_embedder(settings));
    return out;
  }
  FOOTNOTE_TRY(UpstreamOptions upstream, upstream_options(settings, kEmbedderServer));
  const std::string& model = settings.text(Setting::kEmbedderModel);
  const auto dimension = static_cast<int>(settings.integer(Setting::kEmbedderDimension));
  out.client = make_client("embedder", upstream.timeout, metrics);
  if (settings.text(Setting::kEmbedderProvider) == "openai") {
    FOOTNOTE_CHECK(require(settings, Setting::kEmbedderProvider, Setting::kEmbedderModel, "name the model to ask for"));
    FOOTNOTE_TRY(out.port, OpenAiEmbedder::open(call, *out.client, {std::move(upstream), model, dimension}));
  } else {
    FOOTNOTE_TRY(out.port, EmbedServiceEmbedder::open(call, *out.client, {std::move(upstream), model, dimension}));
  }
  out.port = with_local_codes(settings, std::move(out.port));
  return out;
}

Result<Provided<Embedder>> open_agent_embedder(const CallContext& call, const Settings& settings, Metrics& metrics) {
  Provided<Embedder> out;
  if (!settings.is_set(Setting::kAgentEmbedderUrl)) return out;
  FOOTNOTE_CHECK(check_url(settings, Setting::kAgentEmbedderUrl));
  UpstreamOptions upstream{.name = "the embedder of agents' notes",
                           .settings = "AGENT_EMBEDDER",
                           .base_url = settings.text(Setting::kAgentEmbedderUrl),
                           .key = {},
                           .timeout = settings.duration(Setting::kEmbedderTimeout)};
  out.client = make_client("agent-embedder", upstream.timeout, metrics);
  FOOTNOTE_TRY(out.port, EmbedServiceEmbedder::open(call, *out.client, {.upstream = std::move(upstream), .model = {}}));
  return out;
}

Result<Rerankers> open_reranker(const Settings& settings, Metrics& metrics) {
  Rerankers out;
  const SettingValue& provider = settings.value(Setting::kRerankerProvider);
  if (provider.text == "none") return out;
  if (provider.text == "local") {
    auto opened = open_local_reranker(settings);
    if (opened || provider.origin != Origin::kDefault || settings.value(Setting::kRerankerModel).origin != Origin::kDefault) return opened;
    log(LogLevel::kWarn, "app", "the judge can't be loaded: passages are ranked without it", {{"error", opened.error().message}});
    return out;
  }
  if (provider.text == "cloudflare") return open_cloudflare(settings, metrics);
  FOOTNOTE_TRY(UpstreamOptions upstream, upstream_options(settings, kRerankerServer));
  out.provided.client = make_client("reranker", upstream.timeout, metrics);
  if (provider.text == "cohere") {
    const SettingValue& named = settings.value(Setting::kRerankerModel);
    const std::string model = named.origin == Origin::kDefault ? "" : named.text;  // The default is a local model.
    out.provided.port = std::make_unique<CohereReranker>(*out.provided.client, std::move(upstream), model);
  } else {
    out.provided.port = std::make_unique<TeiReranker>(*out.provided.client, std::move(upstream));
  }
  return out;
}

namespace {

Result<std::unique_ptr<Reader>> open_block_reader(const Settings& settings) {
  FOOTNOTE_TRY(const auto folder, models::find_model_folder(settings, Setting::kReaderModel));
  FOOTNOTE_TRY(const nn::EncoderOptions options, encoder_options(settings));
  auto opened = nn::PairReader::open(folder, options);
  if (!opened) return std::unexpected(models::advise(std::move(opened).error(), folder.filename().string()));
  return std::make_unique<BlockReader>(*std::move(opened));
}

}  // namespace

Result<std::unique_ptr<Reader>> open_model_reader(const Settings& settings) {
  const SettingValue& model = settings.value(Setting::kReaderModel);
  if (model.text == "none") return nullptr;
  auto opened = open_block_reader(settings);
  if (opened || model.origin != Origin::kDefault) return opened;
  log(LogLevel::kWarn, "app", "the reader can't be loaded: answers are chosen by words and vectors", {{"error", opened.error().message}});
  return nullptr;
}

std::string reranker_name(const Settings& settings) {
  const std::string& provider = settings.text(Setting::kRerankerProvider);
  if (provider == "none") return {};
  const std::string& model = settings.text(Setting::kRerankerModel);
  return model.empty() ? provider : fmt::format("{}:{}", provider, model);
}

}  // namespace footnote::app
