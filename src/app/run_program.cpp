#include <cstdlib>

#include "app/commands.h"
#include "app/completion.h"
#include "app/config_report.h"
#include "app/signals.h"
#include "base/log.h"

namespace footnote::app {
namespace {

Result<Settings> load_settings(const Invocation& invocation) {
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

void print_error(const Error& error, Paint paint) {
  write_err(fmt::format("{} {}\n", styled(paint, Style::kRed, "footnote:"), printable(error.message)));
}

void set_log_levels_of(const Settings& settings, const Command& command) {
  // Log lines would spoil what a person reads; a server's operator wants them.
  const LogLevel fallback = std::holds_alternative<ServeCommand>(command) ? LogLevel::kInfo : LogLevel::kError;
  set_log_levels(parse_log_spec(settings.text(Setting::kLogLevel)).value_or(LogSpec{}), fallback);
}

std::string interruption_of(const Command& command) {
  const bool resumes = std::holds_alternative<IngestCommand>(command) || std::holds_alternative<EvalCommand>(command);
  return resumes ? "interrupted; what was committed stays, run the same command again to go on" : "interrupted";
}

Result<int> dispatch(const CommandContext& context, const Command& command) {
  struct Runner {
    const CommandContext& context;
    Result<int> operator()(const ServeCommand& c) const { return run_serve(context, c); }
    Result<int> operator()(const IngestCommand& c) const { return run_ingest(context, c); }
    Result<int> operator()(const AskCommand& c) const { return run_ask(context, c); }
    Result<int> operator()(const SearchCommand& c) const { return run_search(context, c); }
    Result<int> operator()(const EvalCommand& c) const { return run_eval(context, c); }
    Result<int> operator()(const CalibrateCommand& c) const { return run_calibrate(context, c); }
    Result<int> operator()(const TraceCommand& c) const { return run_trace(context, c); }
    Result<int> operator()(const BenchEncoderCommand& c) const { return run_bench_encoder(context, c); }
    Result<int> operator()(const BenchIndexCommand& c) const { return run_bench_index(context, c); }
    Result<int> operator()(const DoctorCommand&) const { return run_doctor(context); }
    Result<int> operator()(const RebuildIndexCommand& c) const { return run_rebuild_index(context, c); }
    Result<int> operator()(const SnapshotCommand& c) const { return run_snapshot(context, c); }
    Result<int> operator()(const RestoreCommand& c) const { return run_restore(context, c); }
    Result<int> operator()(const DocumentsCommand&) const { return run_documents(context); }
    Result<int> operator()(const KeysCommand& c) const { return run_keys(context, c); }
    Result<int> operator()(const WorkspacesCommand& c) const { return run_workspaces(context, c); }
    Result<int> operator()(const ModelsCommand& c) const { return run_models(context, c); }
    Result<int> operator()(const ConfigCommand&) const { return run_config(context); }
    Result<int> operator()(const CompletionCommand& c) const { return run_completion(c); }
  };
  return std::visit(Runner{context}, command);
}

int run_invocation(const Invocation& invocation) {
  const auto settings = load_settings(invocation);
  if (!settings) {
    print_error(settings.error(), detect_terminal("auto").err);
    return kExitUsage;
  }
  const Terminal terminal = detect_terminal(settings->text(Setting::kColor));
  for (const auto& note : settings->notes()) write_err(fmt::format("footnote: note: {}\n", note));
  set_log_levels_of(*settings, invocation.command);
  const SignalStop signals;
  CallContext call;
  call.stop = signals.token();
  call.trace = TraceContext::fresh();
  const auto code = dispatch({*settings, invocation.form, terminal, call}, invocation.command);
  if (code) return *code;
  const bool interrupted = code.error().code == ErrorCode::kCancelled && call.stop.stop_requested();
  print_error(interrupted ? Error{ErrorCode::kCancelled, interruption_of(invocation.command), {}} : code.error(), terminal.err);
  return interrupted ? kExitInterrupted : kExitFailure;
}

}  // namespace

Result<int> run_config(const CommandContext& context) {
  switch (context.form) {
    case OutputForm::kText: write_out(render_config(context.settings)); break;
    case OutputForm::kJson: write_out(to_text(config_json(context.settings)) + "\n"); break;
    case OutputForm::kMarkdown: write_out(config_markdown()); break;
  }
  return kExitOk;
}

Result<int> run_completion(const CompletionCommand& command) {
  write_out(completion_script(command.shell, command_tree()));
  return kExitOk;
}

int run_program(const std::vector<std::string>& arguments) {
  try {
    const auto parsed = parse_command_line(arguments);
    if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
      write_out(exit->out);
      write_err(exit->err);
      return exit->code;
    }
    return run_invocation(std::get<Invocation>(parsed));
  } catch (const std::exception& error) {  // the last resort: nothing of ours throws
    write_err(fmt::format("footnote: internal error: {}\nPlease report it.\n", error.what()));
    return kExitFailure;
  }
}

}  // namespace footnote::app
