#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/nn/tokenizer.h"

namespace footnote::nn {

/// A token that is matched literally in the text, before any other tokenization.
struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;      ///< Not matched with Specials::kAsText.
  bool single_word = false;  ///< Not matched next to a word character.
  bool strip_left = false;   ///< Includes the white space before it.
  bool strip_right = false;
  bool normalised = false;  ///< Matched in the normalised text, not in the original.
};

/// Finds added tokens from left to right, longest first. Immutable and thread-safe.
class AddedTokens {
 public:
  struct Match {
    std::uint32_t id = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  AddedTokens() = default;
  /// Tokens with empty content are ignored.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// The next token in `text` at or after `from`; the text before `from` belongs to earlier tokens.
  std::optional<Match> next(std::string_view text, std::size_t from, Specials specials) const;

  bool empty() const { return tokens_.empty(); }

 private:
  std::size_t find_head(std::string_view text, std::size_t from) const;
  const AddedToken* longest_at(std::string_view rest) const;

  std::vector<AddedToken> tokens_;           // Sorted by first byte, then longest first.
  std::array<std::uint32_t, 257> starts_{};  // For each first byte, the index of its first token.
  std::optional<char> only_head_;            // Set if all tokens have the same first byte.
};

}  // namespace footnote::nn
