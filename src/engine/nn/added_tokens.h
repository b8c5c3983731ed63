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

/// A token that is found in the text as it is spelled, before anything else looks at the text.
struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;      ///< Text with Specials::kAsText does not have it.
  bool single_word = false;  ///< Not where a word character touches it.
  bool strip_left = false;   ///< Takes the white space before it along.
  bool strip_right = false;
  bool normalised = false;  ///< Is looked for in the normalised text, not in the text as it came.
};

/// Finds added tokens, from left to right and the longest first. Immutable, so safe from any thread.
class AddedTokens {
 public:
  struct Match {
    std::uint32_t id = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  AddedTokens() = default;
  /// Tokens with empty content are left out.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// The next token in `text` at or after `from`; text before `from` belongs to tokens found before.
  std::optional<Match> next(std::string_view text, std::size_t from, Specials specials) const;

  bool empty() const { return tokens_.empty(); }

 private:
  std::size_t find_head(std::string_view text, std::size_t from) const;
  const AddedToken* longest_at(std::string_view rest) const;

  std::vector<AddedToken> tokens_;           // By first byte, then the longest first.
  std::array<std::uint32_t, 257> starts_{};  // Where the tokens of each first byte begin.
  std::optional<char> only_head_;            // The one byte that all begin with.
};

}  // namespace footnote::nn
