#include <unistd.h>

#include <optional>
#include <thread>

#include "api/routes.h"
#include "app/commands.h"
#include "app/compose.h"
#include "app/demo_agent.h"
#include "app/folder_access.h"
#include "app/server_options.h"
#include "base/log.h"
#include "cli/signals.h"
#include "http/host.h"
#include "http/server.h"
#include "upkeep/graph_keeper.h"
#include "upkeep/retention.h"

namespace footnote::app {
namespace {

constexpr std::chrono::seconds kMaintenanceEvery{60};
constexpr std::chrono::seconds kUsageSaveMax{5};

/// Removes notes that expired and visitors' turns past their time, lets the store and the indexes go of what died long ago, saves indexes
/// that changed much and the use of keys, once a minute, on a thread of its own.
class Maintenance {
 public:
  explicit Maintenance(Composition& parts) : parts_(parts), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Maintenance() {
    thread_.request_stop();
    thread_.join();
    save_key_usage();
  }

 private:
  void run(const std::stop_token& stop) {
    Mutex mutex;
    CondVar changed;
    const std::stop_callback wake(stop, [&] {
      MutexLock lock(mutex);
      changed.notify_all();
    });
    while (true) {
      const auto until = std::chrono::steady_clock::now() + kMaintenanceEvery;
      {
        MutexLock lock(mutex);
        while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) changed.wait_until(lock, until);
      }
      if (stop.stop_requested()) return;
      sweep_memories(stop);
      erase_old_turns(stop);
      purge_all(stop);
      save_key_usage();
    }
  }

  void sweep_memories(const std::stop_token& stop) {
    CallContext call;
    call.stop = stop;
    const auto removed = parts_.memories().sweep(call);
    if (!removed && removed.error().code != ErrorCode::kCancelled) {
      log(LogLevel::kWarn, "app", "expired notes were not removed", {{"error", removed.error().message}});
    }
  }

  /// Turns of visitors past their agent's retention.
  void erase_old_turns(const std::stop_token& stop) {
    CallContext call;
    call.stop = stop;
    const auto erased = upkeep::erase_expired_turns(call, parts_.catalog(), parts_.stores().agents(), parts_.stores().conversations(),
                                                    parts_.clock().now());
    if (!erased && erased.error().code != ErrorCode::kCancelled) {
      log(LogLevel::kWarn, "app", "old turns were not erased", {{"error", erased.error().message}});
    }
  }

  void purge_all(const std::stop_token& stop) {
    CallContext call;
    call.stop = stop;
    const auto corpora = upkeep::all_corpora(call, parts_.catalog());
    if (!corpora) return log(LogLevel::kWarn, "app", "maintenance failed", {{"error", corpora.error().message}});
    for (const Corpus& corpus : *corpora) {
      parts_.index_files().drop_damaged(call, corpus);
      const auto purged = parts_.sync().purge(call, corpus.id);
      if (!purged && purged.error().code != ErrorCode::kCancelled) {
        log(LogLevel::kWarn, "app", "purge failed", {{"corpus", corpus.name}, {"error", purged.error().message}});
      }
      parts_.index_files().save(call, corpus, upkeep::IndexFiles::When::kInBackground);
    }
  }

  void save_key_usage() {
    const auto saved = parts_.keys().save_usage(CallContext::with_timeout(kUsageSaveMax));
    if (!saved) log(LogLevel::kWarn, "app", "use of keys not saved", {{"error", saved.error().message}});
  }

  Composition& parts_;
  std::jthread thread_;
};

/// Beyond loopback only callers with keys are let in, so there must be one.
Result<void> check_host(const Settings& settings, const access::Keys& keys) {
  const auto& host = settings.value(Setting::kServerHost);
  if (http::is_loopback_host(host.text) || keys.has_active()) return {};
  return fail_field(ErrorCode::kInvalidArgument, "server.host",
                    "server.host: '{}' would open the documents to the network, and there is no API key; make one with `footnote keys "
                    "create`, or use 127.0.0.1, ::1 or localhost (from {})",
                    host.text, host.place);
}

std::string url_of(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return fmt::format("http://{}:{}", v6 ? fmt::format("[{}]", host) : host, port);
}

void announce(const cli::CommandContext& context, const cli::ServeCommand& command, const std::string& url) {
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(JsonObject{{"event", "ready"}, {"url", url}, {"pid", ::getpid()}, {"version", cli::version()}}) + "\n");
    return;
  }
  std::string out = fmt::format("Footnote {} is ready: {}\n", cli::version(), cli::styled(context.terminal.out, cli::Style::kBold, url));
  if (command.demo) out += fmt::format("  shop with the widget: {}/demo/shop/\n", url);
  for (const auto& question : command.examples) out += fmt::format("  try: {}\n", question);
  cli::write_out(out + "Ctrl-C stops it.\n");
}

}  // namespace

Result<int> run_serve(const cli::CommandContext& context, const cli::ServeCommand& command) {
  FOOTNOTE_TRY(const http::ServerOptions options, make_server_options(context.settings));
  FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kCreate));
  FOOTNOTE_TRY(const auto parts, Composition::open(context.call, context.settings, std::move(folder),
                                                   {.model_may_be_unnamed = true, .notes = AgentNotes::kOn}));
  if (context.settings.is_set(Setting::kLlmBaseUrl) && !context.settings.is_set(Setting::kLlmModel)) {
    log(LogLevel::kInfo, "app",
        "LLM_MODEL is not set: questions to the knowledge base are answered by quoting; the proxy passes on the models of LLM_BASE_URL");
  }
  FOOTNOTE_CHECK(check_host(context.settings, parts->keys()));
  parts->copies().tidy();
  FOOTNOTE_CHECK(build_indexes(context.call, *parts, context.terminal));

  parts->start_agent_work();
  api::Services services = parts->services(command.examples);
  if (command.demo) {
    FOOTNOTE_TRY(services.demo_agent, ensure_demo_agent(context.call, *parts));
  }
  auto server = http::Server::start(options, api::make_routes(services), parts->metrics());
  if (!server && server.error().code == ErrorCode::kUnavailable) {
    return fail(ErrorCode::kUnavailable, "{}; choose another port with --port (0: any free one)", server.error().message);
  }
  if (!server) return std::unexpected(std::move(server).error());

  const std::string url = url_of(context.settings.text(Setting::kServerHost), (*server)->port());
  FOOTNOTE_CHECK(parts->folder().set_url(url, parts->owner_token()));
  announce(context, command, url);
  {
    const Maintenance maintenance(*parts);
    std::optional<upkeep::GraphKeeper> graphs;
    if (context.settings.text(Setting::kIndexGraph) == "auto") {
      graphs.emplace(upkeep::GraphKeeper::Ports{parts->catalog(), parts->local_vectors(), parts->index_files()});
    }
    cli::wait_for_stop(context.call.stop);
  }
  log(LogLevel::kInfo, "app", "draining", {{"grace_ms", context.settings.duration(Setting::kServerDrain).count()}});
  (*server)->drain(context.settings.duration(Setting::kServerDrain));
  save_indexes({}, *parts, upkeep::IndexFiles::When::kAnythingChanged);
  log(LogLevel::kInfo, "app", "stopped");
  return cli::kExitOk;
}

}  // namespace footnote::app
