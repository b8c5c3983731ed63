#include "app/web_door.h"

#include "cli/command_line.h"
#include "crawl/web_reader.h"
#include "http/url.h"

namespace footnote::app {

namespace {

constexpr int kSearchConnectAttempts = 2;

CurlCrawlerOptions crawler_options(AddressPolicy policy, const Settings& settings) {
  CurlCrawlerOptions out;
  out.policy = std::move(policy);
  out.gate.delay = settings.duration(Setting::kWebDelay);
  out.fetch_time_max = settings.duration(Setting::kWebTimeout);
  out.limits.body_bytes_max = 50u << 20;  // a whole sitemap; pages have a smaller limit of their own
  out.user_agent = std::string(crawl::kProduct) + "/" + std::string(cli::version());
  return out;
}

std::unique_ptr<http::Client> make_search_client(const Settings& settings, Metrics& metrics) {
  if (!settings.is_set(Setting::kWebSearchUrl)) return nullptr;
  http::ClientOptions options;
  options.name = "searxng";
  options.silence_timeout = settings.duration(Setting::kWebSearchTimeout);
  options.connect_attempts = kSearchConnectAttempts;
  options.response_bytes_max = 8u << 20;
  return std::make_unique<http::Client>(options, metrics);
}

std::unique_ptr<SearxngSearch> make_search(const Settings& settings, http::Client* client) {
  if (client == nullptr) return nullptr;
  return std::make_unique<SearxngSearch>(
      *client, SearxngOptions{.url = settings.text(Setting::kWebSearchUrl), .timeout = settings.duration(Setting::kWebSearchTimeout)});
}

std::unexpected<Error> bad_setting(const Settings& settings, Setting id, const Error& error) {
  return fail_field(ErrorCode::kInvalidArgument, spec_of(id).key, "{}: {} (from {})", spec_of(id).key, error.message,
                    settings.value(id).place);
}

}  // namespace

Result<std::unique_ptr<WebDoor>> WebDoor::open(const Settings& settings, AnswerParts& parts) {
  if (!settings.flag(Setting::kWebEnabled)) return nullptr;
  const auto ports = AddressPolicy::parse(settings.text(Setting::kWebPorts), "");
  if (!ports) return bad_setting(settings, Setting::kWebPorts, ports.error());
  auto policy = AddressPolicy::parse(settings.text(Setting::kWebPorts), settings.text(Setting::kWebAllow));
  if (!policy) return bad_setting(settings, Setting::kWebAllow, policy.error());
  if (settings.is_set(Setting::kWebSearchUrl)) {
    const auto url = http::parse_url(settings.text(Setting::kWebSearchUrl));
    if (!url) return bad_setting(settings, Setting::kWebSearchUrl, url.error());
  }
  return std::unique_ptr<WebDoor>(new WebDoor(*std::move(policy), settings, parts));
}

WebDoor::WebDoor(AddressPolicy policy, const Settings& settings, AnswerParts& parts)
    : parts_(parts),
      crawler_(crawler_options(std::move(policy), settings), parts.base().metrics()),
      search_client_(make_search_client(settings, parts.base().metrics())),
      search_(make_search(settings, search_client_.get())),
      digest_({.embedder = parts.base().embedder(),
               .reranker = parts.rerankers().provided.port.get(),
               .llm = parts.llm(),
               .clock = parts.base().clock()}),
      top_k_(static_cast<std::size_t>(settings.integer(Setting::kProxyTopK))),
      lambda_(settings.number(Setting::kProxyMmrLambda)) {}

api::WebServices WebDoor::services(ingest::Secrets secrets) {
  return {.crawler = crawler_,
          .search = search_.get(),
          .digest = digest_,
          .embedder = parts_.base().embedder(),
          .retriever = parts_.retriever(),
          .corpora = parts_.corpora(),
          .catalog = parts_.base().catalog(),
          .ingestor = parts_.base().ingestor(),
          .secrets = secrets,
          .top_k = top_k_,
          .lambda = lambda_};
}

}  // namespace footnote::app
