#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/terminal.h"
#include "models/check.h"
#include "models/list.h"

namespace footnote::models {

/// `footnote models list`: a table, and below it why a folder can't be opened. Empty without models.
std::string render_models(const std::vector<ModelEntry>& models);
/// {"models": [{"name", "path", "opens", "reason", "size_bytes", "embeds", "reranks", ...}]}
Json models_json(const std::vector<ModelEntry>& models);

/// `footnote models info`: all that is known of one.
std::string render_model(const ModelEntry& model);
Json model_json(const ModelEntry& model);

/// `footnote models verify`: a line a model, and below it what is wrong or worth a word.
std::string render_verdicts(const std::vector<ModelVerdict>& verdicts, cli::Paint paint);
/// {"ok": bool, "models": [{"name", "path", "ok", "checksums", "files": [{"name", "status", "detail"}]}]}
Json verdicts_json(const std::vector<ModelVerdict>& verdicts);

}  // namespace footnote::models
