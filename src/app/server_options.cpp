#include "app/server_options.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "api/authentication.h"
#include "api/browser_policy.h"
#include "api/error_mapping.h"
#include "api/widget_routes.h"
#include "app/compose_models.h"
#include "base/log.h"
#include "http/host.h"
#include "models/folder.h"

namespace footnote::app {
namespace {

/// For the store's files on every pooled connection, workers' calls to other servers, and connections that are closing while others replace
/// them.
constexpr std::size_t kOwnDescriptors = 1'024;

/// With a memory limit, request bodies may use 1 / kMemoryPerBodies of it. The rest is for what is computed from them, and for thread
/// stacks.
constexpr std::size_t kMemoryPerBodies = 4;

constexpr unsigned kWorkersMax = 256;
constexpr unsigned kWorkersPerCore = 8;
constexpr unsigned kWorkersMin = 16;

Result<api::BrowserPolicy> make_policy(const Settings& settings) {
  api::BrowserPolicy::Options options;
  FOOTNOTE_TRY(options.hosts, api::parse_allowed_hosts(settings.text(Setting::kServerAllowedHosts)));
  FOOTNOTE_TRY(options.origins, api::parse_allowed_origins(settings.text(Setting::kServerAllowedOrigins)));
  options.open_prefix = api::kWidgetPath;
  options.embeddable = {"/widget.js"};
  options.address_hosts = !http::is_loopback_host(settings.text(Setting::kServerHost));
  return api::BrowserPolicy(std::move(options));
}

}  // namespace

namespace {

/// Whether workers mostly wait for other servers rather than compute. Waiting for a language model takes no worker.
bool waits_for_others(const Settings& settings) { return models::embeds_elsewhere(settings) || models::reranks_elsewhere(settings); }

/// Descriptors not available to clients: each running answer may hold a connection to the language model.
std::size_t own_descriptors(const Settings& settings) {
  const auto streams = static_cast<std::size_t>(settings.integer(Setting::kServerStreams));
  return kOwnDescriptors + (settings.is_set(Setting::kLlmBaseUrl) ? streams : 0);
}

}  // namespace

unsigned workers_for(bool waits, unsigned cores) {
  return waits ? kWorkersMax : std::clamp(kWorkersPerCore * cores, kWorkersMin, kWorkersMax);
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOwnDescriptors;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = limit.rlim_max;
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t connections_within(std::size_t descriptors, std::size_t own, std::size_t wanted) {
  // If the limit is smaller than our own need, each side gets half.
  return std::clamp<std::size_t>(descriptors - std::min(own, descriptors / 2), 1, wanted);
}

Result<http::ServerOptions> make_server_options(const Settings& settings) {
  FOOTNOTE_TRY(const api::BrowserPolicy policy, make_policy(settings));
  http::ServerOptions options;
  options.host = settings.text(Setting::kServerHost);
  options.port = static_cast<std::uint16_t>(settings.integer(Setting::kServerPort));
  const auto workers = static_cast<unsigned>(settings.integer(Setting::kServerWorkers));
  options.workers = workers != 0 ? workers : workers_for(waits_for_others(settings), std::thread::hardware_concurrency());
  options.waiting_max = static_cast<std::size_t>(settings.integer(Setting::kServerStreams));
  options.io_uring = settings.flag(Setting::kServerIoUring);
  options.queue_wait_max = settings.duration(Setting::kServerQueueWait);
  options.header_deadline = settings.duration(Setting::kServerHeadTimeout);
  options.body_deadline = settings.duration(Setting::kServerBodyTimeout);
  options.write_deadline = settings.duration(Setting::kServerWriteTimeout);
  options.idle_deadline = settings.duration(Setting::kServerIdleTimeout);
  if (const auto memory_mib = static_cast<std::size_t>(settings.integer(Setting::kServerMemoryMax)); memory_mib != 0) {
    options.body_bytes_total_max = std::min(options.body_bytes_total_max, (memory_mib << 20) / kMemoryPerBodies);
  }
  options.connections_per_peer_max = static_cast<std::size_t>(settings.integer(Setting::kServerConnectionsPerPeer));
  const auto trusted = http::parse_address_ranges(settings.text(Setting::kServerTrustedProxies));
  if (!trusted)
    return fail_field(ErrorCode::kInvalidArgument, "server.trusted_proxies", "server.trusted_proxies: {}", trusted.error().message);
  options.trusted_proxies = *trusted;
  options.render_error = api::render_error;
  options.guard = [policy](const http::Request& request) { return policy.refuse(request); };
  options.decorate = [policy](const http::Request& request, http::Headers& headers) {
    policy.add_safety_headers(request, headers);
    policy.add_cors_headers(request, headers);
    api::add_rate_headers(request, headers);
  };

  const auto wanted = static_cast<std::size_t>(settings.integer(Setting::kServerConnections));
  const std::size_t descriptors = raise_descriptor_limit();
  options.connections_max = connections_within(descriptors, own_descriptors(settings), wanted);
  if (options.connections_max < wanted) {
    log(LogLevel::kWarn, "app", "the limit of open files (ulimit -Hn) allows fewer connections than server.connections",
        {{"open_files", descriptors}, {"connections", options.connections_max}, {"wanted", wanted}});
  }
  return options;
}

}  // namespace footnote::app
