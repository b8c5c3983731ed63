#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/terminal.h"
#include "models/check.h"
#include "models/list.h"

namespace footnote::models {

/// `footnote models list`: a table, followed by the reasons why folders can't be opened. Empty without models.
std::string render_models(const std::vector<ModelEntry>& models);
/// {"models": [{"name", "path", "opens", "reason", "size_bytes", "embeds", "reranks", ...}]}
Json models_json(const std::vector<ModelEntry>& models);

/// `footnote models info`: everything known about one model.
std::string render_model(const ModelEntry& model);
Json model_json(const ModelEntry& model);

/// `footnote models verify`: one line per model, followed by problems and remarks.
std::string render_verdicts(const std::vector<ModelVerdict>& verdicts, cli::Paint paint);
/// {"ok": bool, "models": [{"name", "path", "ok", "checksums", "files": [{"name", "status", "detail"}]}]}
Json verdicts_json(const std::vector<ModelVerdict>& verdicts);

}  // namespace footnote::models
