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

/// Fields of a third-party JSON file: a value of another type counts as missing.
std::optional<bool> bool_at(const JsonObject& object, std::string_view key);
std::optional<std::string_view> string_at(const JsonObject& object, std::string_view key);
std::optional<std::uint32_t> id_at(const JsonObject& object, std::string_view key);
const JsonObject* object_at(const JsonObject& object, std::string_view key);
const JsonArray* array_at(const JsonObject& object, std::string_view key);
/// The value's "type"; "" when it has none.
std::string_view type_of(const Json& value);

/// The largest id that a tokenizer's files may contain, plus one.
inline constexpr std::uint32_t kTokenIdsMax = 1U << 24;

/// Reads an added token in the form of tokenizer.json and tokenizer_config.json.
AddedToken added_token_of(const JsonObject& object, std::uint32_t id);

/// The contents of tokenizer_config.json.
struct TokenizerConfig {
  std::optional<bool> lower_case;
  std::optional<bool> space_ideographs;
  bool names_strip_accents = false;   ///< True if it has the field strip_accents.
  std::optional<bool> strip_accents;  ///< The value of that field; nullopt: same as lower_case.
  std::size_t tokens_max = Tokenizer::kNoLimit;
  std::string unknown_token;  ///< Names of special tokens; empty when not given.
  std::string class_token;
  std::string separator_token;
  std::string padding_token;
  std::string mask_token;
  std::vector<AddedToken> added;

  /// Empty text gives an empty configuration. kCorrupted: not a JSON object.
  static Result<TokenizerConfig> parse(std::string_view text);
};

}  // namespace footnote::nn
