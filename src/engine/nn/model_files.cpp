#include "engine/nn/model_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace footnote::nn {
namespace {

constexpr std::uint64_t kConfigBytesMax = 1 << 20;
constexpr std::uint64_t kVocabularyBytesMax = 64 << 20;
constexpr std::string_view kWeightsName = "model.safetensors";
constexpr std::string_view kVocabularyName = "vocab.txt";

using Checksums = std::map<std::string, std::string, std::less<>>;

std::unexpected<Error> missing(const std::filesystem::path& path) {
  return fail(ErrorCode::kFailedPrecondition, "the model needs {}, which is not there; run `make setup` to fetch it", path.string());
}

Result<std::string> read_required(const std::filesystem::path& path, std::uint64_t bytes_max) {
  auto text = read_file(path, bytes_max);
  if (!text && text.error().code == ErrorCode::kNotFound) return missing(path);
  return text;
}

std::unexpected<Error> corrupted(const std::filesystem::path& path, std::string_view what) {
  return fail(ErrorCode::kCorrupted, "{}: {}; run `make setup` to fetch it again", path.string(), what);
}

/// A JSON object in a file; nullopt when there is no such file.
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

Result<void> check_architecture(const JsonObject& config) {
  const auto require = [&](std::string_view key, std::string_view wanted) -> Result<void> {
    const std::string found = string_at(config, key, wanted);
    if (found == wanted) return {};
    return fail(ErrorCode::kUnsupported, "the model's {} is '{}'; only '{}' can be run", key, found, wanted);
  };
  if (!config.contains("model_type")) return fail(ErrorCode::kUnsupported, "the model's config.json names no model_type");
  FOOTNOTE_CHECK(require("model_type", "bert"));
  FOOTNOTE_CHECK(require("hidden_act", "gelu"));
  FOOTNOTE_CHECK(require("position_embedding_type", "absolute"));
  return {};
}

Result<EncoderShape> read_shape(const JsonObject& config) {
  EncoderShape shape;
  const auto require = [&](std::string_view key, std::size_t max, std::size_t& out) -> Result<void> {
    const auto value = size_at(config, key);
    if (!value || *value > max) return fail(ErrorCode::kUnsupported, "the model's {} is missing or past {}", key, max);
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
  FOOTNOTE_CHECK(require("type_vocab_size", 16, shape.token_types));
  const Json* epsilon = config.if_contains("layer_norm_eps");
  if (epsilon != nullptr && epsilon->is_number()) shape.norm_epsilon = epsilon->to_number<float>();
  // The kernels work on whole panels of 32 columns and heads of whole vectors; every published BERT has such sizes.
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

Result<WordPieceOptions> read_tokenizer_options(const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const auto config, read_object(folder / "tokenizer_config.json"));
  WordPieceOptions options;
  if (!config) return options;
  options.lower_case = bool_at(*config, "do_lower_case", true);
  // When it is not said, accents go with upper case.
  options.strip_accents = bool_at(*config, "strip_accents", options.lower_case);
  if (!bool_at(*config, "tokenize_chinese_chars", true)) {
    return fail(ErrorCode::kUnsupported, "tokenizers without spacing of CJK ideographs can't be run");
  }
  return options;
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

Result<void> check_sum(const Checksums& sums, const std::filesystem::path& folder, std::string_view name, std::string_view bytes) {
  const auto sum = sums.find(name);
  if (sum == sums.end() || sha256_hex(bytes) == sum->second) return {};
  return corrupted(folder / name, "it does not match its SHA-256 sum in checksums.sha256");
}

}  // namespace

Result<ModelFiles> ModelFiles::open(const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const auto config, read_object(folder / "config.json"));
  if (!config) return missing(folder / "config.json");
  FOOTNOTE_CHECK(check_architecture(*config));
  FOOTNOTE_TRY(const EncoderShape shape, read_shape(*config));
  FOOTNOTE_TRY(const Pooling pooling, read_pooling(folder));
  FOOTNOTE_TRY(const auto sentence, read_object(folder / "sentence_bert_config.json"));
  const std::size_t window = sentence ? size_at(*sentence, "max_seq_length").value_or(shape.positions) : shape.positions;

  FOOTNOTE_TRY(const Checksums sums, read_checksums(folder / "checksums.sha256"));
  FOOTNOTE_TRY(const std::string vocabulary, read_required(folder / kVocabularyName, kVocabularyBytesMax));
  FOOTNOTE_CHECK(check_sum(sums, folder, kVocabularyName, vocabulary));
  auto weights = SafeTensors::open(folder / kWeightsName);
  if (!weights && weights.error().code == ErrorCode::kNotFound) return missing(folder / kWeightsName);
  if (!weights && weights.error().code == ErrorCode::kCorrupted) return corrupted(folder / kWeightsName, weights.error().message);
  if (!weights) return std::unexpected(std::move(weights).error());

  FOOTNOTE_TRY(const WordPieceOptions options, read_tokenizer_options(folder));
  FOOTNOTE_TRY(WordPiece tokenizer, WordPiece::create(vocabulary, options));
  if (tokenizer.vocabulary().size() > shape.vocabulary) {
    return corrupted(folder / kVocabularyName, "it has more lines than the model has vectors");
  }
  const auto sum = sums.find(kWeightsName);
  const bool prefixed = weights->has("bert.embeddings.word_embeddings.weight");
  return ModelFiles{folder,
                    prefixed ? "bert." : "",
                    shape,
                    pooling,
                    std::clamp<std::size_t>(window, 2, shape.positions),
                    sum == sums.end() ? std::string() : sum->second,
                    std::move(tokenizer),
                    *std::move(weights)};
}

std::filesystem::path ModelFiles::weights_path() const { return folder / kWeightsName; }

Result<void> ModelFiles::verify_weights() const {
  if (weights_sha256.empty() || sha256_hex(weights.file_bytes()) == weights_sha256) return {};
  return corrupted(weights_path(), "it does not match its SHA-256 sum in checksums.sha256");
}

}  // namespace footnote::nn
