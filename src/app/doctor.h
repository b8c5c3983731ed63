#pragma once

#include <string>
#include <vector>

#include "app/commands.h"
#include "app/stores.h"
#include "base/json.h"

namespace footnote::app {

enum class Health { kOk, kNote, kBroken };

/// What one look found. `fix` says what to do; empty when there is nothing to do.
struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string detail;
  std::string fix;
  JsonObject facts;
};

/// Cores, memory, and the disk below `data`.
std::vector<Check> check_machine(const std::filesystem::path& data);
/// The encoder's instruction level, and those that work here.
Check check_cpu(const Settings& settings);
/// The configured embedder: opens the model, or asks the server, and embeds three sentences: two that say the same must be nearer than the
/// one that does not.
Check check_model(const CallContext& call, const Settings& settings);
/// Whether a reranker is configured, and scores.
Check check_reranker(const CallContext& call, const Settings& settings);
/// The stored bytes, what is in there, and indexes built from it; or the server that has it.
std::vector<Check> check_store(const CallContext& call, const Settings& settings);
/// Whether the port is free, or a Footnote of this data folder listens there.
Check check_port(const Settings& settings);
/// Whether a language model is configured and answers.
Check check_llm_endpoint(const CallContext& call, const Settings& settings);

/// For people: one line a check, what to fix below it.
std::string render_checks(const std::vector<Check>& checks, Paint paint);
/// {"ok": bool, "checks":[{"name","status":"ok|note|broken","detail","fix",...facts}]}
Json checks_json(const std::vector<Check>& checks);

}  // namespace footnote::app
