#pragma once

#include <string>
#include <vector>

#include "base/call_context.h"
#include "cli/commands.h"
#include "cli/doctor_report.h"
#include "config/settings.h"

namespace footnote::app {

/// Cores, memory, and the disk below `data`.
std::vector<cli::Check> check_machine(const std::filesystem::path& data);
/// The encoder's instruction level, and those that work here.
cli::Check check_cpu(const Settings& settings);
/// The configured embedder: opens the model, or asks the server, and embeds three sentences: two that say the same must be nearer than the
/// one that does not.
cli::Check check_model(const CallContext& call, const Settings& settings);
/// Whether a reranker is configured, and scores.
cli::Check check_reranker(const CallContext& call, const Settings& settings);
/// The data folder, and what GET /api/admin/checks says of it.
std::vector<cli::Check> check_data(const cli::CommandContext& context);
/// Whether the port is free, or a Footnote of this data folder listens there.
cli::Check check_port(const Settings& settings);
/// Whether a language model is configured and answers.
cli::Check check_llm_endpoint(const CallContext& call, const Settings& settings);

}  // namespace footnote::app
