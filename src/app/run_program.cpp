#include <cstdlib>
#include <new>
#include <system_error>

#include "app/commands.h"
#include "app/memory_limit.h"
#include "base/log.h"
#include "cli/completion.h"
#include "cli/config_report.h"
#include "cli/signals.h"
#include "models/run_models.h"

namespace footnote::app {
namespace {

Result<Settings> load_settings(const cli::Invocation& invocation) {
  std::error_code error;
  SettingSources sources;
  sources.working_folder = std::filesystem::current_path(error);
  sources.config_file = invocation.config_file;
  sources.flags = invocation.flags;
  sources.environment = [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
  return Settings::load(sources);
}

void print_error(const Error& error, cli::Paint paint) {
  cli::write_err(fmt::format("{} {}\n", cli::styled(paint, cli::Style::kRed, "footnote:"), cli::printable(error.message)));
}

void set_log_levels_of(const Settings& settings, const cli::Command& command) {
  // Log lines would clutter a command's output; a server's operator wants them.
  const LogLevel fallback = std::holds_alternative<cli::ServeCommand>(command) ? LogLevel::kInfo : LogLevel::kError;
  set_log_levels(parse_log_spec(settings.text(Setting::kLogLevel)).value_or(LogSpec{}), fallback);
}

std::string interruption_of(const cli::Command& command) {
  const bool resumes = std::holds_alternative<cli::IngestCommand>(command) || std::holds_alternative<cli::EvalCommand>(command);
  return resumes ? "interrupted; committed changes are kept. Run the same command again to continue" : "interrupted";
}

Result<int> dispatch(const cli::CommandContext& context, const cli::Command& command) {
  struct Runner {
    const cli::CommandContext& context;
    Result<int> operator()(const cli::ServeCommand& c) const { return run_serve(context, c); }
    Result<int> operator()(const cli::IngestCommand& c) const { return run_ingest(context, c); }
    Result<int> operator()(const cli::AskCommand& c) const { return run_ask(context, c); }
    Result<int> operator()(const cli::SearchCommand& c) const { return run_search(context, c); }
    Result<int> operator()(const cli::EvalCommand& c) const { return run_eval(context, c); }
    Result<int> operator()(const cli::CalibrateCommand& c) const { return run_calibrate(context, c); }
    Result<int> operator()(const cli::FetchCommand& c) const { return run_fetch(context, c); }
    Result<int> operator()(const cli::TraceCommand& c) const { return run_trace(context, c); }
    Result<int> operator()(const cli::BenchEncoderCommand& c) const { return run_bench_encoder(context, c); }
    Result<int> operator()(const cli::BenchIndexCommand& c) const { return run_bench_index(context, c); }
    Result<int> operator()(const cli::DoctorCommand&) const { return run_doctor(context); }
    Result<int> operator()(const cli::RebuildIndexCommand& c) const { return run_rebuild_index(context, c); }
    Result<int> operator()(const cli::SnapshotCommand& c) const { return run_snapshot(context, c); }
    Result<int> operator()(const cli::RestoreCommand& c) const { return run_restore(context, c); }
    Result<int> operator()(const cli::DocumentsCommand&) const { return run_documents(context); }
    Result<int> operator()(const cli::SourcesCommand& c) const { return run_sources(context, c); }
    Result<int> operator()(const cli::JobsCommand& c) const { return run_jobs(context, c); }
    Result<int> operator()(const cli::McpCommand&) const { return run_mcp(context); }
    Result<int> operator()(const cli::KeysCommand& c) const { return run_keys(context, c); }
    Result<int> operator()(const cli::WorkspacesCommand& c) const { return run_workspaces(context, c); }
    Result<int> operator()(const cli::ModelsCommand& c) const {
      return c.action == cli::ModelsCommand::Action::kFit ? run_models_fit(context, c) : models::run_models(context, c);
    }
    Result<int> operator()(const cli::ConfigCommand&) const { return run_config(context); }
    Result<int> operator()(const cli::CompletionCommand& c) const { return run_completion(c); }
  };
  return std::visit(Runner{context}, command);
}

int run_invocation(const cli::Invocation& invocation) {
  const auto settings = load_settings(invocation);
  if (!settings) {
    print_error(settings.error(), cli::detect_terminal("auto").err);
    return cli::kExitUsage;
  }
  const cli::Terminal terminal = cli::detect_terminal(settings->text(Setting::kColor));
  for (const auto& note : settings->notes()) cli::write_err(fmt::format("footnote: note: {}\n", note));
  set_log_levels_of(*settings, invocation.command);
  const cli::SignalStop signals;
  CallContext call;
  call.stop = signals.token();
  call.trace = TraceContext::fresh();
  const auto limited = limit_memory(*settings);
  const auto code =
      !limited ? Result<int>(std::unexpected(limited.error())) : dispatch({*settings, invocation.form, terminal, call}, invocation.command);
  if (code) return *code;
  const bool interrupted = code.error().code == ErrorCode::kCancelled && call.stop.stop_requested();
  print_error(interrupted ? Error{ErrorCode::kCancelled, interruption_of(invocation.command), {}} : code.error(), terminal.err);
  return interrupted ? cli::kExitInterrupted : cli::kExitFailure;
}

}  // namespace

Result<int> run_config(const cli::CommandContext& context) {
  switch (context.form) {
    case cli::OutputForm::kText: cli::write_out(cli::render_config(context.settings)); break;
    case cli::OutputForm::kJson: cli::write_out(to_text(cli::config_json(context.settings)) + "\n"); break;
    case cli::OutputForm::kMarkdown: cli::write_out(cli::config_markdown()); break;
  }
  return cli::kExitOk;
}

Result<int> run_completion(const cli::CompletionCommand& command) {
  cli::write_out(cli::completion_script(command.shell, cli::command_tree()));
  return cli::kExitOk;
}

int run_program(const std::vector<std::string>& arguments) {
  try {
    const auto parsed = cli::parse_command_line(arguments);
    if (const auto* exit = std::get_if<cli::EarlyExit>(&parsed)) {
      cli::write_out(exit->out);
      cli::write_err(exit->err);
      return exit->code;
    }
    return run_invocation(std::get<cli::Invocation>(parsed));
  } catch (const std::bad_alloc&) {
    cli::write_err("footnote: not enough memory; allow more (--memory-max, server.memory_max_mib), or process less at once\n");
    return cli::kExitFailure;
  } catch (const std::system_error& error) {
    cli::write_err(fmt::format(
        "footnote: {}; allow more memory (--memory-max, server.memory_max_mib; each thread's stack counts) or threads (ulimit -u)\n",
        error.what()));
    return cli::kExitFailure;
  } catch (const std::exception& error) {  // last resort: our own code does not throw
    cli::write_err(fmt::format("footnote: internal error: {}\nPlease report it.\n", error.what()));
    return cli::kExitFailure;
  }
}

}  // namespace footnote::app
