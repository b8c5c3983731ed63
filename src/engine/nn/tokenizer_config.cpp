#include "engine/nn/tokenizer_config.h"

#include "base/text.h"

namespace footnote::nn {
namespace {

/// A token's name, given as a string or as an object with "content".
std::string token_at(const JsonObject& object, std::string_view key) {
  const JsonObject* token = object_at(object, key);
  return std::string(token != nullptr ? string_at(*token, "content").value_or("") : string_at(object, key).value_or(""));
}

std::size_t tokens_max_at(const JsonObject& object) {
  // Files without a limit contain 1e30.
  constexpr double kLengthMax = 1 << 30;
  const Json* value = object.if_contains("model_max_length");
  if (value == nullptr || !value->is_number()) return Tokenizer::kNoLimit;
  const auto length = value->to_number<double>();
  return length >= 1 && length <= kLengthMax ? static_cast<std::size_t>(length) : Tokenizer::kNoLimit;
}

}  // namespace

std::optional<bool> bool_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
}

std::optional<std::string_view> string_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string_view(value->get_string().data(), value->get_string().size());
}

std::optional<std::uint32_t> id_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0 || value->get_int64() >= kTokenIdsMax) return std::nullopt;
  return static_cast<std::uint32_t>(value->get_int64());
}

const JsonObject* object_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

const JsonArray* array_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_array();
}

std::string_view type_of(const Json& value) {
  const JsonObject* object = value.if_object();
  return object == nullptr ? std::string_view() : string_at(*object, "type").value_or("");
}

AddedToken added_token_of(const JsonObject& object, std::uint32_t id) {
  AddedToken out;
  out.id = id;
  out.content = string_at(object, "content").value_or("");
  out.special = bool_at(object, "special").value_or(false);
  out.single_word = bool_at(object, "single_word").value_or(false);
  out.strip_left = bool_at(object, "lstrip").value_or(false);
  out.strip_right = bool_at(object, "rstrip").value_or(false);
  out.normalised = bool_at(object, "normalized").value_or(!out.special);
  return out;
}

Result<TokenizerConfig> TokenizerConfig::parse(std::string_view text) {
  TokenizerConfig out;
  if (text.empty()) return out;
  const auto value = parse_json(text);
  if (!value || !value->is_object()) return fail(ErrorCode::kCorrupted, "it is not a JSON object");
  const JsonObject& object = value->get_object();
  out.lower_case = bool_at(object, "do_lower_case");
  out.space_ideographs = bool_at(object, "tokenize_chinese_chars");
  out.names_strip_accents = object.contains("strip_accents");
  out.strip_accents = bool_at(object, "strip_accents");
  out.tokens_max = tokens_max_at(object);
  out.unknown_token = token_at(object, "unk_token");
  out.class_token = token_at(object, "cls_token");
  out.separator_token = token_at(object, "sep_token");
  out.padding_token = token_at(object, "pad_token");
  out.mask_token = token_at(object, "mask_token");
  const JsonObject* added = object_at(object, "added_tokens_decoder");
  if (added == nullptr) return out;
  for (const auto& [key, token] : *added) {
    const auto id = parse_whole_number<std::uint32_t>(key);
    if (!id || *id >= kTokenIdsMax || !token.is_object()) {
      return fail(ErrorCode::kCorrupted, "its added_tokens_decoder has no ids of tokens");
    }
    out.added.push_back(added_token_of(token.get_object(), *id));
  }
  return out;
}

}  // namespace footnote::nn
