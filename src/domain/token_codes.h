#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace footnote {

/// The tokens of a passage as an embedder saw them, a few bytes each: what late interaction compares a question's tokens
/// with. Codes of different forms never meet.
struct PassageCodes {
  std::uint32_t form = 0;        ///< 0: none.
  std::uint32_t dimension = 0;   ///< Bits of one token, a multiple of 8.
  std::vector<std::byte> signs;  ///< One token after the other, one window after the other.
  /// Tokens in each window; the best one counts, as with vectors.
  std::vector<std::uint32_t> windows;

  bool operator==(const PassageCodes&) const = default;
};

/// Whether the codes are none at all or whole tokens.
inline bool is_whole(const PassageCodes& codes) {
  if (codes.form == 0) return codes.signs.empty() && codes.windows.empty();
  const std::uint64_t tokens = std::accumulate(codes.windows.begin(), codes.windows.end(), std::uint64_t{0});
  return codes.dimension > 0 && codes.dimension % 8 == 0 && codes.signs.size() == tokens * (codes.dimension / 8);
}

/// The tokens of a question, to be compared with passages of the same form.
struct QuestionCodes {
  std::uint32_t form = 0;  ///< 0: none.
  std::uint32_t dimension = 0;
  std::vector<float> tokens;  ///< `dimension` numbers each.
};

}  // namespace footnote
