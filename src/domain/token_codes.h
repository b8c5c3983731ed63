#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace footnote {

/// Compressed token vectors of a passage, a few bytes each: late interaction compares a question's tokens with them. Only codes of the same
/// form are comparable.
struct PassageCodes {
  std::uint32_t form = 0;        ///< 0: none.
  std::uint32_t dimension = 0;   ///< Bits per token, a multiple of 8.
  std::vector<std::byte> signs;  ///< Token by token, window by window.
  /// Number of tokens in each window; the best window counts, as with vectors.
  std::vector<std::uint32_t> windows;

  bool operator==(const PassageCodes&) const = default;
};

/// True if the codes are empty or consist of whole tokens.
inline bool is_whole(const PassageCodes& codes) {
  if (codes.form == 0) return codes.signs.empty() && codes.windows.empty();
  const std::uint64_t tokens = std::accumulate(codes.windows.begin(), codes.windows.end(), std::uint64_t{0});
  return codes.dimension > 0 && codes.dimension % 8 == 0 && codes.signs.size() == tokens * (codes.dimension / 8);
}

/// Token vectors of a question, comparable with passages of the same form.
struct QuestionCodes {
  std::uint32_t form = 0;  ///< 0: none.
  std::uint32_t dimension = 0;
  std::vector<float> tokens;  ///< `dimension` numbers per token.
};

}  // namespace footnote
