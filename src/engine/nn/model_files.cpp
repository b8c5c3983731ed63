#include "engine/nn/model_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/nn/tokenizer_files.h"

namespace footnote::nn {
namespace {

constexpr std::uint64_t kConfigBytesMax = 1 << 20;
constexpr std::uint64_t kListedBytesMax = 64 << 20;
constexpr std::string_view kWeightsName = "model.safetensors";

using Checksums = ModelFiles::Checksums;

std::unexpected<Error> missing(const std::filesystem::path& path) {
  return fail(ErrorCode::kFailedPrecondition, "the model needs {}, which does not exist; run `make setup` to fetch it", path.string());
}

Result<std::string> read_required(const std::filesystem::path& path, std::uint64_t bytes_max) {
  auto text = read_file(path, bytes_max);
  if (!text && text.error().code == ErrorCode::kNotFound) return missing(path);
  return text;
}

std::unexpected<Error> corrupted(const std::filesystem::path& path, std::string_view what) {
  return fail(ErrorCode::kCorrupted, "{}: {}; run `make setup` to fetch it again", path.string(), what);
}

/// Reads a JSON object from a file; nullopt when the file does not exist.
Result<std::optional<JsonObject>> read_object(const std::filesystem::path& path) {
  auto text = read_file(path, kConfigBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(std::move(text).error());
  auto value = parse_json(*text);
  if (!value || !value->is_object()) return corrupted(path, "it is not a JSON object");
  return std::optional(std::move(value->get_object()));
}

std::optional<std::size_t> size_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_int64() || value->get_int64() <= 0) return std::nullopt;
  return static_cast<std::size_t>(value->get_int64());
}

std::string string_at(const JsonObject& object, std::string_view key, std::string_view otherwise) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::string(otherwise);
  return {value->get_string().data(), value->get_string().size()};
}

bool bool_at(const JsonObject& object, std::string_view key, bool otherwise) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

Result<Family> read_family(const JsonObject& config) {
  const std::string type = string_at(config, "model_type", "");
  if (type.empty()) return fail(ErrorCode::kUnsupported, "the model's config.json names no model_type");
  for (const Family family : {Family::kBert, Family::kXlmRoberta}) {
    if (type == to_string(family)) return family;
  }
  return fail(
      ErrorCode::kUnsupported,
      "the model's architecture is '{}'; encoders of the types 'bert' (MiniLM, BGE, E5, GTE and the like) and 'xlm-roberta' can be run",
      type);
}

Result<void> check_choices(const JsonObject& config) {
  const auto require = [&](std::string_view key, std::string_view wanted) -> Result<void> {
    const std::string found = string_at(config, key, wanted);
    if (found == wanted) return {};
    return fail(ErrorCode::kUnsupported, "the model's {} is '{}'; only '{}' can be run", key, found, wanted);
  };
  FOOTNOTE_CHECK(require("hidden_act", "gelu"));
  FOOTNOTE_CHECK(require("position_embedding_type", "absolute"));
  return {};
}

Result<EncoderShape> read_shape(const JsonObject& config, Family family) {
  EncoderShape shape;
  const auto require = [&](std::string_view key, std::size_t max, std::size_t& out) -> Result<void> {
    const auto value = size_at(config, key);
    if (!value || *value > max) return fail(ErrorCode::kUnsupported, "the model's {} is missing or larger than {}", key, max);
    out = *value;
    return {};
  };
  FOOTNOTE_CHECK(require("vocab_size", 1 << 24, shape.vocabulary));
  FOOTNOTE_CHECK(require("hidden_size", 8192, shape.hidden));
  FOOTNOTE_CHECK(require("intermediate_size", 32768, shape.intermediate));
  FOOTNOTE_CHECK(require("num_hidden_layers", 128, shape.layers));
  FOOTNOTE_CHECK(require("num_attention_heads", 256, shape.heads));
  FOOTNOTE_CHECK(require("max_position_embeddings", 8192, shape.positions));
  shape.positions_total = shape.positions;
  if (family == Family::kXlmRoberta) {
    // Positions are counted from after the padding position.
    shape.position_offset = size_at(config, "pad_token_id").value_or(1) + 1;
    if (shape.position_offset >= shape.positions_total)
      return fail(ErrorCode::kUnsupported, "the model's pad_token_id leaves no positions");
    shape.positions -= shape.position_offset;
  }
  FOOTNOTE_CHECK(require("type_vocab_size", 16, shape.token_types));
  const Json* epsilon = config.if_contains("layer_norm_eps");
  if (epsilon != nullptr && epsilon->is_number()) shape.norm_epsilon = epsilon->to_number<float>();
  // The kernels need panels of 32 columns and heads of whole vectors; every published BERT has such sizes.
  if (shape.hidden % 32 != 0 || shape.intermediate % 32 != 0 || shape.hidden % shape.heads != 0 || shape.head_size() % 32 != 0) {
    return fail(ErrorCode::kUnsupported, "sizes of hidden {}, intermediate {}, heads {} are not multiples of 32", shape.hidden,
                shape.intermediate, shape.heads);
  }
  return shape;
}

Result<Pooling> read_pooling(const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const auto config, read_object(folder / "1_Pooling" / "config.json"));
  if (!config || bool_at(*config, "pooling_mode_mean_tokens", false)) return Pooling::kMean;
  if (bool_at(*config, "pooling_mode_cls_token", false)) return Pooling::kFirstToken;
  return fail(ErrorCode::kUnsupported, "the model pools neither by mean nor by its first token");
}

struct Prefixes {
  std::string query;
  std::string passage;
};

Result<Prefixes> read_prefixes(const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const auto config, read_object(folder / "config_sentence_transformers.json"));
  const Json* prompts = config ? config->if_contains("prompts") : nullptr;
  if (prompts == nullptr || !prompts->is_object()) return Prefixes{};
  const JsonObject& names = prompts->get_object();
  return Prefixes{string_at(names, "query", ""), string_at(names, "passage", string_at(names, "document", ""))};
}

Result<Checksums> read_checksums(const std::filesystem::path& path) {
  Checksums out;
  auto text = read_file(path, kConfigBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return out;
  if (!text) return std::unexpected(std::move(text).error());
  for (std::string_view line : split(*text, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    // "<64 digits> <space or *><name>"
    if (line.size() < 67 || line[64] != ' ') return corrupted(path, "it is not a list of SHA-256 sums");
    std::string_view name = line.substr(66);
    if (name.starts_with("./")) name.remove_prefix(2);
    out.emplace(std::string(name), to_lower_ascii(line.substr(0, 64)));
  }
  return out;
}

/// Verifies all listed files except the weights, which are large.
Result<void> check_sums(const Checksums& sums, const std::filesystem::path& folder) {
  for (const auto& [name, sum] : sums) {
    if (name == kWeightsName) continue;
    FOOTNOTE_TRY(const std::string bytes, read_required(folder / name, kListedBytesMax));
    if (sha256_hex(bytes) != sum) return corrupted(folder / name, "it does not match its SHA-256 sum in checksums.sha256");
  }
  return {};
}

Result<SafeTensors> open_weights(const std::filesystem::path& path) {
  auto weights = SafeTensors::open(path);
  if (weights) return weights;
  if (weights.error().code == ErrorCode::kNotFound) return missing(path);
  if (weights.error().code == ErrorCode::kCorrupted) return corrupted(path, weights.error().message);
  return weights;
}

/// Rows of the last matrix of a classification head; 0 when there is none.
std::size_t read_labels(const SafeTensors& weights, Family family) {
  const auto last = weights.tensor(family == Family::kBert ? "classifier.weight" : "classifier.out_proj.weight");
  return last && last->shape.size() == 2 ? static_cast<std::size_t>(last->shape[0]) : 0;
}

/// The model whose token vectors are shared.
struct WordTable {
  std::filesystem::path folder;
  std::string sha256;  ///< Checksum of that model's weights.
};

/// The folder of the model that `key` of config.json names, next to this one; nullopt when it has no such key.
Result<std::optional<std::filesystem::path>> read_neighbour(const JsonObject& config, std::string_view key,
                                                            const std::filesystem::path& folder) {
  const Json* value = config.if_contains(key);
  if (value == nullptr) return std::nullopt;
  const std::string model = value->is_object() ? string_at(value->get_object(), "model", "") : "";
  if (model.empty() || model.front() == '.' || model.find('/') != std::string::npos) {
    return corrupted(folder / "config.json", fmt::format("its {} names no model", key));
  }
  return folder.parent_path() / model;
}

Result<std::optional<WordTable>> read_word_table(const JsonObject& config, const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const auto neighbour, read_neighbour(config, "word_table", folder));
  if (!neighbour) return std::nullopt;
  return WordTable{*neighbour, string_at(config.at("word_table").get_object(), "sha256", "")};
}

Result<SafeTensors> open_shared_words(const WordTable& table) {
  FOOTNOTE_TRY(const Checksums sums, read_checksums(table.folder / "checksums.sha256"));
  const auto sum = sums.find(kWeightsName);
  if (sum != sums.end() && sum->second != table.sha256) {
    return fail(ErrorCode::kFailedPrecondition, "{} is not the model whose token vectors this one shares", table.folder.string());
  }
  return open_weights(table.folder / kWeightsName);
}

}  // namespace

std::string_view to_string(Family family) {
  switch (family) {
    case Family::kBert: return "bert";
    case Family::kXlmRoberta: return "xlm-roberta";
  }
  return "unknown";
}

std::string_view to_string(Pooling pooling) {
  switch (pooling) {
    case Pooling::kMean: return "mean";
    case Pooling::kFirstToken: return "cls";
  }
  return "unknown";
}

Result<ModelFiles> ModelFiles::open(const std::filesystem::path& folder) {
  ModelFiles out;
  out.folder = folder;
  FOOTNOTE_TRY(const auto config, read_object(folder / "config.json"));
  if (!config) return missing(folder / "config.json");
  FOOTNOTE_TRY(out.family, read_family(*config));
  FOOTNOTE_CHECK(check_choices(*config));
  FOOTNOTE_TRY(out.shape, read_shape(*config, out.family));
  FOOTNOTE_TRY(out.pooling, read_pooling(folder));
  FOOTNOTE_TRY(Prefixes prefixes, read_prefixes(folder));
  out.query_prefix = std::move(prefixes.query);
  out.passage_prefix = std::move(prefixes.passage);

  FOOTNOTE_TRY(const Checksums sums, read_checksums(folder / "checksums.sha256"));
  FOOTNOTE_CHECK(check_sums(sums, folder));
  if (const auto sum = sums.find(kWeightsName); sum != sums.end()) out.weights_sha256 = sum->second;
  FOOTNOTE_TRY(out.weights, open_weights(out.weights_path()));
  FOOTNOTE_TRY(const auto table, read_word_table(*config, folder));
  if (table) {
    FOOTNOTE_TRY(out.shared_words, open_shared_words(*table));
  }
  const std::string family_prefix = out.family == Family::kBert ? "bert." : "roberta.";
  if (out.weights.has(family_prefix + "embeddings.word_embeddings.weight")) out.prefix = family_prefix;
  out.labels = read_labels(out.weights, out.family);

  out.finds_spans = out.weights.has("relevance.weight") && out.weights.has("span.weight");

  FOOTNOTE_TRY(const auto tokenizer, read_neighbour(*config, "tokenizer", folder));
  FOOTNOTE_TRY(out.tokenizer, open_tokenizer(tokenizer ? *tokenizer : table ? table->folder : folder));
  if (out.tokenizer->vocabulary_size() > out.shape.vocabulary) {
    return fail(ErrorCode::kCorrupted, "{}: the tokenizer has {} tokens, the model has vectors for {}", folder.string(),
                out.tokenizer->vocabulary_size(), out.shape.vocabulary);
  }
  FOOTNOTE_TRY(const auto sentence, read_object(folder / "sentence_bert_config.json"));
  const std::size_t said = sentence ? size_at(*sentence, "max_seq_length").value_or(out.shape.positions) : out.tokenizer->tokens_max();
  // A window must leave some room for text between the special tokens.
  out.tokens_max = std::clamp<std::size_t>(said, std::min<std::size_t>(16, out.shape.positions), out.shape.positions);
  return out;
}

std::filesystem::path ModelFiles::weights_path() const { return folder / kWeightsName; }

Result<void> ModelFiles::verify_weights() const {
  if (weights_sha256.empty() || sha256_hex(weights.file_bytes()) == weights_sha256) return {};
  return corrupted(weights_path(), "it does not match its SHA-256 sum in checksums.sha256");
}

}  // namespace footnote::nn
