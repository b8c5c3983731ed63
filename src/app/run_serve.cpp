#include <unistd.h>

#include "api/routes.h"
#include "app/commands.h"
#include "app/demo_agent.h"
#include "app/folder_access.h"
#include "app/server_options.h"
#include "app/server_parts.h"
#include "base/contained.h"
#include "base/log.h"
#include "cli/signals.h"
#include "http/host.h"
#include "http/server.h"

namespace footnote::app {
namespace {

/// Beyond loopback only callers with keys are admitted, so there must be one.
Result<void> check_host(const Settings& settings, const access::Keys& keys) {
  const auto& host = settings.value(Setting::kServerHost);
  if (http::is_loopback_host(host.text) || keys.has_active()) return {};
  return fail_field(ErrorCode::kInvalidArgument, "server.host",
                    "server.host: '{}' would open the documents to the network, and there is no API key; create one with `footnote keys "
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
  std::string out =
      fmt::format("Footnote {} is ready: {}\n", cli::version(), cli::styled(context.terminal.out, cli::Style::kBold, url + "/app/chat"));
  if (command.demo) out += fmt::format("  shop with the widget: {}/demo/shop/\n", url);
  for (const auto& question : command.examples) out += fmt::format("  try: {}\n", question);
  cli::write_out(out + "Ctrl-C stops it.\n");
}

}  // namespace

Result<int> run_serve(const cli::CommandContext& context, const cli::ServeCommand& command) {
  FOOTNOTE_TRY(const http::ServerOptions options, make_server_options(context.settings));
  FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kCreate));
  FOOTNOTE_TRY(const auto parts, ServerParts::open(context.call, context.settings, std::move(folder),
                                                   {.notes = AgentNotes::kOn, .answer = {.model_may_be_unnamed = true}}));
  if (context.settings.is_set(Setting::kLlmBaseUrl) && !context.settings.is_set(Setting::kLlmModel)) {
    log(LogLevel::kInfo, "app",
        "LLM_MODEL is not set: questions to the knowledge base are answered by quoting; the proxy forwards to the models of LLM_BASE_URL");
  }
  FOOTNOTE_CHECK(check_host(context.settings, parts->keys()));
  parts->upkeep().copies().tidy();
  FOOTNOTE_CHECK(parts->base().build_indexes(context.call, context.terminal));

  parts->upkeep().start_agent_work();
  api::Services services = parts->services(command.examples);
  services.ingest_command += data_flag(context.settings);
  if (command.demo) {
    FOOTNOTE_TRY(services.demo_agent, ensure_demo_agent(context.call, parts->base()));
  }
  auto server = http::Server::start(options, api::make_routes(services), parts->base().metrics());
  if (!server && server.error().code == ErrorCode::kUnavailable) {
    return fail(ErrorCode::kUnavailable, "{}; choose another port with --port (0: any free one)", server.error().message);
  }
  if (!server) return std::unexpected(std::move(server).error());

  const std::string url = url_of(context.settings.text(Setting::kServerHost), (*server)->port());
  FOOTNOTE_CHECK(parts->base().folder().set_url(url, parts->owner_token()));
  announce(context, command, url);
  parts->upkeep().start_maintenance();
  parts->sources().start();
  cli::wait_for_stop(context.call.stop);
  parts->sources().stop();
  parts->upkeep().stop_maintenance();
  log(LogLevel::kInfo, "app", "draining", {{"grace_ms", context.settings.duration(Setting::kServerDrain).count()}});
  (*server)->drain(context.settings.duration(Setting::kServerDrain));
  // If memory is exhausted, the next start rebuilds the indexes from the store.
  contained("app", "saving indexes", [&] { parts->base().save_indexes({}, upkeep::IndexFiles::When::kAnythingChanged); });
  log(LogLevel::kInfo, "app", "stopped");
  return cli::kExitOk;
}

}  // namespace footnote::app
