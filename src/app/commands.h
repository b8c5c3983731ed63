#pragma once

#include "app/command_line.h"
#include "app/settings.h"
#include "app/terminal.h"
#include "base/call_context.h"

namespace footnote::app {

/// What every command gets. Borrowed for the run.
struct CommandContext {
  const Settings& settings;
  OutputForm form = OutputForm::kText;
  Terminal terminal;
  CallContext call;  ///< Stopped by SIGINT and SIGTERM.
};

/// Each runs one command to its end and gives the exit code. An error is printed by the caller, with exit code 1.
Result<int> run_serve(const CommandContext& context, const ServeCommand& command);
Result<int> run_ingest(const CommandContext& context, const IngestCommand& command);
Result<int> run_ask(const CommandContext& context, const AskCommand& command);
Result<int> run_search(const CommandContext& context, const SearchCommand& command);
Result<int> run_eval(const CommandContext& context, const EvalCommand& command);
Result<int> run_calibrate(const CommandContext& context, const CalibrateCommand& command);
Result<int> run_trace(const CommandContext& context, const TraceCommand& command);
Result<int> run_documents(const CommandContext& context);
Result<int> run_keys(const CommandContext& context, const KeysCommand& command);
Result<int> run_workspaces(const CommandContext& context, const WorkspacesCommand& command);
Result<int> run_models(const CommandContext& context, const ModelsCommand& command);
Result<int> run_models_fit(const CommandContext& context, const ModelsCommand& command);
Result<int> run_doctor(const CommandContext& context);
Result<int> run_rebuild_index(const CommandContext& context, const RebuildIndexCommand& command);
Result<int> run_snapshot(const CommandContext& context, const SnapshotCommand& command);
Result<int> run_restore(const CommandContext& context, const RestoreCommand& command);
Result<int> run_config(const CommandContext& context);
Result<int> run_bench_encoder(const CommandContext& context, const BenchEncoderCommand& command);
Result<int> run_bench_index(const CommandContext& context, const BenchIndexCommand& command);
Result<int> run_completion(const CompletionCommand& command);

/// The whole program: parse, load the settings, run, print. Never throws.
int run_program(const std::vector<std::string>& arguments);

}  // namespace footnote::app
