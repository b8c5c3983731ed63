#pragma once

#include "cli/commands.h"

namespace footnote::app {

/// Each function runs one command and returns the exit code. On an error, the caller prints it and exits with code 1.
Result<int> run_serve(const cli::CommandContext& context, const cli::ServeCommand& command);
Result<int> run_ingest(const cli::CommandContext& context, const cli::IngestCommand& command);
Result<int> run_ask(const cli::CommandContext& context, const cli::AskCommand& command);
Result<int> run_search(const cli::CommandContext& context, const cli::SearchCommand& command);
Result<int> run_eval(const cli::CommandContext& context, const cli::EvalCommand& command);
Result<int> run_calibrate(const cli::CommandContext& context, const cli::CalibrateCommand& command);
Result<int> run_fetch(const cli::CommandContext& context, const cli::FetchCommand& command);
Result<int> run_trace(const cli::CommandContext& context, const cli::TraceCommand& command);
Result<int> run_documents(const cli::CommandContext& context);
Result<int> run_sources(const cli::CommandContext& context, const cli::SourcesCommand& command);
Result<int> run_jobs(const cli::CommandContext& context, const cli::JobsCommand& command);
Result<int> run_mcp(const cli::CommandContext& context);
Result<int> run_keys(const cli::CommandContext& context, const cli::KeysCommand& command);
Result<int> run_workspaces(const cli::CommandContext& context, const cli::WorkspacesCommand& command);
Result<int> run_models_fit(const cli::CommandContext& context, const cli::ModelsCommand& command);
Result<int> run_doctor(const cli::CommandContext& context);
Result<int> run_rebuild_index(const cli::CommandContext& context, const cli::RebuildIndexCommand& command);
Result<int> run_snapshot(const cli::CommandContext& context, const cli::SnapshotCommand& command);
Result<int> run_restore(const cli::CommandContext& context, const cli::RestoreCommand& command);
Result<int> run_config(const cli::CommandContext& context);
Result<int> run_bench_encoder(const cli::CommandContext& context, const cli::BenchEncoderCommand& command);
Result<int> run_bench_index(const cli::CommandContext& context, const cli::BenchIndexCommand& command);
Result<int> run_completion(const cli::CompletionCommand& command);

/// The whole program: parse, load the settings, run, print. Never throws.
int run_program(const std::vector<std::string>& arguments);

}  // namespace footnote::app
