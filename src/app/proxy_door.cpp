#include "app/proxy_door.h"

#include "http/url.h"

namespace footnote::app {
namespace {

constexpr int kQdrantConnectAttempts = 2;
constexpr int kQdrantFailuresMax = 5;

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
  options.connect_attempts = kQdrantConnectAttempts;
  options.breaker.failures_max = kQdrantFailuresMax;
  return std::make_unique<http::Client>(options, metrics);
}

std::unique_ptr<QdrantSearch> make_qdrant(const Settings& settings, http::Client* client) {
  if (client == nullptr) return nullptr;
  return std::make_unique<QdrantSearch>(*client, QdrantSearchOptions{.url = settings.text(Setting::kProxyQdrantUrl),
                                                                     .key = settings.text(Setting::kProxyQdrantKey),
                                                                     .timeout = settings.duration(Setting::kProxyQdrantTimeout)});
}

}  // namespace

Result<std::unique_ptr<ProxyDoor>> ProxyDoor::open(const Settings& settings, AnswerParts& parts) {
  FOOTNOTE_CHECK(check_url(settings, Setting::kProxyQdrantUrl));
  FOOTNOTE_TRY(auto policy, proxy_policy(settings));
  return std::unique_ptr<ProxyDoor>(new ProxyDoor(std::move(policy), settings, parts));
}

ProxyDoor::ProxyDoor(proxy::Policy policy, const Settings& settings, AnswerParts& parts)
    : parts_(parts),
      policy_(std::move(policy)),
      qdrant_client_(make_qdrant_client(settings, parts.base().metrics())),
      qdrant_(make_qdrant(settings, qdrant_client_.get())),
      finder_({.retriever = parts.retriever(),
               .catalog = parts.base().catalog(),
               .corpora = parts.corpora(),
               .points = parts.base().stores().points(),
               .embedder = parts.base().embedder(),
               .elsewhere = search_elsewhere()},
              policy_),
      chats_(finder_, policy_),
      turns_({.conversations = parts.base().stores().conversations(),
              .clock = parts.base().clock(),
              .metrics = &parts.base().metrics(),
              .events = &parts.events(),
              .stored = settings.flag(Setting::kProxyStoreTurns)}),
      upstream_url_(settings.text(Setting::kLlmBaseUrl)),
      upstream_key_(settings.text(Setting::kLlmApiKey)) {}

proxy::SearchElsewhere ProxyDoor::search_elsewhere() {
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

api::ProxyServices ProxyDoor::services() {
  std::optional<api::ChatUpstream> upstream;
  if (http::Client* client = parts_.model_client()) upstream.emplace(*client, upstream_url_, upstream_key_);
  return {.answers = parts_.answers(),
          .corpora = parts_.corpora(),
          .embedder = parts_.base().embedder(),
          .chats = chats_,
          .turns = turns_,
          .upstream = std::move(upstream)};
}

}  // namespace footnote::app
