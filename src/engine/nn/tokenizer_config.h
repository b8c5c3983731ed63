#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/nn/added_tokens.h"

namespace footnote::nn {

/// Fields of a JSON object that is some library's file: what has another type than wanted reads as missing.
std::optional<bool> bool_at(const JsonObject& object, std::string_view key);
std::optional<std::string_view> string_at(const JsonObject& object, std::string_view key);
std::optional<std::uint32_t> id_at(const JsonObject& object, std::string_view key);
const JsonObject* object_at(const JsonObject& object, std::string_view key);
const JsonArray* array_at(const JsonObject& object, std::string_view key);
/// The value's "type"; "" when it has none.
std::string_view type_of(const Json& value);

/// The largest id that a tokenizer's files may give, plus one.
inline constexpr std::uint32_t kTokenIdsMax = 1U << 24;

/// An added token as both tokenizer.json and tokenizer_config.json write it.
AddedToken added_token_of(const JsonObject& object, std::uint32_t id);

/// What tokenizer_config.json says.
struct TokenizerConfig {
  std::optional<bool> lower_case;
  std::optional<bool> space_ideographs;
  bool names_strip_accents = false;   ///< It says something of accents,
  std::optional<bool> strip_accents;  ///< namely this; nullopt: as lower_case.
  std::size_t tokens_max = Tokenizer::kNoLimit;
  std::string unknown_token;  ///< Names of special tokens; empty when they are not said.
  std::string class_token;
  std::string separator_token;
  std::string padding_token;
  std::string mask_token;
  std::vector<AddedToken> added;

  /// Empty text is an empty configuration. kCorrupted: not a JSON object.
  static Result<TokenizerConfig> parse(std::string_view text);
};

}  // namespace footnote::nn
