#include "models/report.h"

#include <algorithm>

#include "base/text.h"
#include "cli/text_table.h"
#include "models/checksums.h"

namespace footnote::models {
namespace {

std::string use_of(const ModelEntry& model) {
  std::vector<std::string> uses;
  if (model.embeds) uses.emplace_back("embedding");
  if (model.reranks) uses.emplace_back("reranking");
  if (model.shadowed) uses.emplace_back("shadowed");
  return join(uses, ", ");
}

std::string_view name_of(nn::DataType type) {
  switch (type) {
    case nn::DataType::kF32: return "fp32";
    case nn::DataType::kF16: return "fp16";
    case nn::DataType::kBf16: return "bf16";
    case nn::DataType::kI64: return "int64";
    case nn::DataType::kI32: return "int32";
    case nn::DataType::kI8: return "int8";
    case nn::DataType::kU8: return "uint8";
    case nn::DataType::kOther: return "other";
  }
  return "other";
}

/// The type of the first layer; empty if there is none.
std::string_view weights_type(const nn::ModelFiles& files) {
  const auto table = files.weights.tensor(files.prefix + "encoder.layer.0.attention.self.query.weight");
  return table ? name_of(table->type) : std::string_view();
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

JsonObject summary_json(const ModelEntry& model) {
  std::uint64_t packed_bytes = 0;
  for (const PackedCopy& copy : model.packed) packed_bytes += copy.bytes;
  JsonObject out{{"name", model.name},
                 {"path", model.path.string()},
                 {"opens", model.files.has_value()},
                 {"reason", text_or_null(model.reason)},
                 {"size_bytes", model.bytes},
                 {"packed_bytes", packed_bytes},
                 {"embeds", model.embeds},
                 {"reranks", model.reranks},
                 {"shadowed", model.shadowed}};
  if (!model.files) return out;
  const nn::ModelFiles& files = *model.files;
  out["kind"] = to_string(kind_of(files));
  out["family"] = nn::to_string(files.family);
  out["dimension"] = files.shape.hidden;
  out["layers"] = files.shape.layers;
  out["window_tokens"] = files.tokens_max;
  out["pooling"] = nn::to_string(files.pooling);
  out["labels"] = files.labels;
  return out;
}

/// Aligned "name  value" lines.
class Lines {
 public:
  void add(std::string_view what, const std::string& value) { text_ += fmt::format("{:<16}{}\n", what, cli::printable(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Quoted, because trailing spaces of prompts matter.
std::string prompt_of(const std::string& prefix) { return prefix.empty() ? "none" : fmt::format("\"{}\"", prefix); }

void add_sizes(const nn::ModelFiles& files, Lines& lines) {
  const nn::EncoderShape& shape = files.shape;
  const ModelKind kind = kind_of(files);
  lines.add("kind", kind == ModelKind::kCrossEncoder ? fmt::format("cross-encoder, {} label{}", files.labels, files.labels == 1 ? "" : "s")
                                                     : std::string(to_string(kind)));
  lines.add("family", std::string(nn::to_string(files.family)));
  lines.add("dimension", fmt::format("{}", shape.hidden));
  lines.add("layers", fmt::format("{} of {} heads, {} wide inside", shape.layers, shape.heads, shape.intermediate));
  lines.add("window", fmt::format("{} tokens, of {} positions", files.tokens_max, shape.positions));
  lines.add("pooling", std::string(nn::to_string(files.pooling)));
  lines.add("tokenizer", fmt::format("{}, {} tokens", files.tokenizer->family(), files.tokenizer->vocabulary_size()));
  lines.add("vocabulary", fmt::format("{} vectors", shape.vocabulary));
  lines.add("query prompt", prompt_of(files.query_prefix));
  lines.add("passage prompt", prompt_of(files.passage_prefix));
  lines.add("weights", fmt::format("{}, {}", weights_type(files), human_bytes(files.weights.file_bytes().size())));
}

std::string_view name_of(FileState state) {
  switch (state) {
    case FileState::kOk: return "ok";
    case FileState::kUnlisted: return "unlisted";
    case FileState::kStale: return "stale";
    case FileState::kMissing: return "missing";
    case FileState::kDamaged: return "damaged";
    case FileState::kUnreadable: return "unreadable";
  }
  return "unknown";
}

}  // namespace

std::string render_models(const std::vector<ModelEntry>& models) {
  cli::TextTable table({{"name"},
                        {"kind"},
                        {"family"},
                        {"dimension", cli::Align::kRight},
                        {"layers", cli::Align::kRight},
                        {"window", cli::Align::kRight},
                        {"pooling"},
                        {"size", cli::Align::kRight},
                        {"use"}});
  std::string reasons;
  for (const ModelEntry& model : models) {
    const std::string name = cli::printable(model.name);
    if (!model.files) {
      table.add({name, "can't be opened", "", "", "", "", "", human_bytes(model.bytes), use_of(model)});
      reasons += fmt::format("{}: {}\n", name, cli::printable(model.reason));
      continue;
    }
    const nn::ModelFiles& files = *model.files;
    table.add({name, std::string(to_string(kind_of(files))), std::string(nn::to_string(files.family)),
               fmt::format("{}", files.shape.hidden), fmt::format("{}", files.shape.layers), fmt::format("{}", files.tokens_max),
               std::string(nn::to_string(files.pooling)), human_bytes(model.bytes), use_of(model)});
  }
  return models.empty() ? std::string() : table.render() + reasons;
}

Json models_json(const std::vector<ModelEntry>& models) {
  JsonArray list;
  for (const ModelEntry& model : models) list.emplace_back(summary_json(model));
  return JsonObject{{"models", std::move(list)}};
}

std::string render_model(const ModelEntry& model) {
  Lines lines;
  lines.add("name", model.name);
  lines.add("path", model.path.string());
  if (const std::string use = use_of(model); !use.empty()) lines.add("use", use);
  if (model.files) add_sizes(*model.files, lines);
  if (!model.files) lines.add("can't open", model.reason);
  lines.add("checksums", model.has_checksums ? "present; `footnote models verify` checks the files against them" : "none");
  std::vector<std::string> packed;
  for (const PackedCopy& copy : model.packed) packed.push_back(fmt::format("{} ({})", copy.name, human_bytes(copy.bytes)));
  lines.add("packed", packed.empty() ? "none yet: the first start creates one" : join(packed, ", "));
  lines.add("size", human_bytes(model.bytes));
  return lines.text();
}

Json model_json(const ModelEntry& model) {
  JsonObject out = summary_json(model);
  out["checksums"] = model.has_checksums;
  JsonArray packed;
  for (const PackedCopy& copy : model.packed) packed.push_back(JsonObject{{"name", copy.name}, {"bytes", copy.bytes}});
  out["packed"] = std::move(packed);
  if (!model.files) return out;
  const nn::ModelFiles& files = *model.files;
  out["vocabulary"] = files.shape.vocabulary;
  out["intermediate"] = files.shape.intermediate;
  out["heads"] = files.shape.heads;
  out["positions"] = files.shape.positions;
  out["tokenizer"] = files.tokenizer->family();
  out["tokenizer_tokens"] = files.tokenizer->vocabulary_size();
  out["query_prompt"] = files.query_prefix;
  out["passage_prompt"] = files.passage_prefix;
  out["weights_type"] = text_or_null(weights_type(files));
  out["weights_bytes"] = files.weights.file_bytes().size();
  out["weights_sha256"] = text_or_null(files.weights_sha256);
  return out;
}

std::string render_verdicts(const std::vector<ModelVerdict>& verdicts, cli::Paint paint) {
  std::string out;
  for (const ModelVerdict& verdict : verdicts) {
    const auto fine = std::ranges::count(verdict.files, FileState::kOk, &FileFinding::state);
    const std::string status =
        verdict.sound() ? cli::styled(paint, cli::Style::kGreen, "ok") : cli::styled(paint, cli::Style::kRed, "broken");
    out += fmt::format("{}  {}: {} file{} match their checksums\n", status, cli::printable(verdict.name), fine, fine == 1 ? "" : "s");
    if (!verdict.has_checksums) {
      out += fmt::format("  there is no {}, so the files can't be checked; `footnote models add` writes one\n", kChecksumsName);
    }
    std::vector<std::string> unlisted;
    for (const FileFinding& file : verdict.files) {
      if (file.state == FileState::kUnlisted) unlisted.push_back(file.name);
      if (file.state == FileState::kOk || file.state == FileState::kUnlisted) continue;
      out += fmt::format("  {} {}: {}\n", cli::printable(file.name), name_of(file.state), cli::printable(file.detail));
    }
    if (verdict.has_checksums && !unlisted.empty()) out += fmt::format("  not in {}: {}\n", kChecksumsName, join(unlisted, ", "));
    if (!verdict.reason.empty()) out += fmt::format("  {}\n", cli::printable(verdict.reason));
  }
  return out;
}

Json verdicts_json(const std::vector<ModelVerdict>& verdicts) {
  JsonArray models;
  for (const ModelVerdict& verdict : verdicts) {
    JsonArray files;
    for (const FileFinding& file : verdict.files) {
      files.push_back(JsonObject{{"name", file.name}, {"status", name_of(file.state)}, {"detail", text_or_null(file.detail)}});
    }
    models.push_back(JsonObject{{"name", verdict.name},
                                {"path", verdict.path.string()},
                                {"ok", verdict.sound()},
                                {"checksums", verdict.has_checksums},
                                {"reason", text_or_null(verdict.reason)},
                                {"files", std::move(files)}});
  }
  return JsonObject{{"ok", std::ranges::all_of(verdicts, &ModelVerdict::sound)}, {"models", std::move(models)}};
}

}  // namespace footnote::models
