#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/nn/grapheme.h"

namespace footnote::nn {

/// SentencePiece's precompiled character map: keys and their replacements, as a double-array trie of 32-bit units.
///   file    := size:u32 unit{size/4} replacement*        (little-endian; size in bytes)
///   unit    := label:8 has_leaf:1 shift:1 offset:22, or with the highest bit set a leaf: the offset of its replacement
///   replacement := UTF-8 text, NUL
/// Immutable and thread-safe. For any contents of the units, a lookup stays in bounds and terminates.
class CharsMap {
 public:
  /// How one code point is treated.
  struct Entry {
    BreakClass break_class = BreakClass::kOther;
    bool mapped = false;  ///< Replaced when it stands alone.
  };

  /// kCorrupted: the sizes don't match, or replacements are not UTF-8.
  static Result<CharsMap> parse(std::string_view bytes);
  /// An empty map.
  CharsMap();

  /// The replacement of the SHORTEST key that is a prefix of `text`; nullopt when there is none. A view into this object.
  std::optional<std::string_view> replacement_of(std::string_view text) const;

  Entry entry(char32_t code_point) const {
    if (code_point < kTableSize) return unpack(entries_[code_point]);
    return unpack(compute(code_point));
  }

  /// True for ASCII characters that are neither replaced nor a line end.
  bool is_plain_ascii(unsigned char byte) const { return byte < 0x80 && plain_[byte]; }

 private:
  static constexpr char32_t kTableSize = 0x20000;
  static constexpr std::uint8_t kMappedBit = 0x80;

  static Entry unpack(std::uint8_t packed) { return {static_cast<BreakClass>(packed & ~kMappedBit), (packed & kMappedBit) != 0}; }
  CharsMap(std::vector<std::uint32_t> units, std::string_view replacements);
  std::uint8_t compute(char32_t code_point) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
  std::vector<std::uint8_t> entries_;
  bool plain_[128] = {};
};

}  // namespace footnote::nn
