#pragma once

#include <string>
#include <vector>

#include "base/call_context.h"
#include "cli/commands.h"
#include "cli/doctor_report.h"
#include "config/settings.h"

namespace footnote::app {

/// Checks cores, memory, and the disk that holds `data`.
std::vector<cli::Check> check_machine(const std::filesystem::path& data);
/// Checks whether other users of the machine can read files of the data folder; empty if there is no folder. Call before anything opens the
/// store, which restricts the modes of its files.
std::vector<cli::Check> check_file_modes(const std::filesystem::path& data);
/// Reports the encoder's instruction level, and the levels that work here.
cli::Check check_cpu(const Settings& settings);
/// Opens the configured embedder, or calls its server, and embeds three sentences: the two with the same meaning must be closer than the
/// third.
cli::Check check_model(const CallContext& call, const Settings& settings);
/// Checks whether a reranker is configured and returns scores.
cli::Check check_reranker(const CallContext& call, const Settings& settings);
/// Checks the data folder, including the results of GET /api/admin/checks.
std::vector<cli::Check> check_data(const cli::CommandContext& context);
/// Checks whether the port is free, or a Footnote of this data folder listens there.
cli::Check check_port(const Settings& settings);
/// Checks whether a language model is configured and answers.
cli::Check check_llm_endpoint(const CallContext& call, const Settings& settings);

}  // namespace footnote::app
