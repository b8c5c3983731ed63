#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace footnote::nn {

/// How BERT's text cleaning treats letters.
struct FoldOptions {
  bool lower_case = true;
  bool strip_accents = true;     ///< Canonical decomposition, then non-spacing marks are dropped.
  bool space_ideographs = true;  ///< CJK ideographs are kIdeograph, not kWord.
};

/// What one code point of the input means to the tokenizer.
enum class CharKind : std::uint8_t {
  kRemoved,      ///< Control and format characters, NUL, U+FFFD: as if they were not there.
  kStripped,     ///< An accent that is dropped, but only after marks were sorted: see order_of().
  kSpace,        ///< Ends a word.
  kPunctuation,  ///< A word of its own.
  kWord,         ///< Part of a word.
  kIdeograph,    ///< A CJK ideograph: a word of its own, folded by expand().
  kMany,         ///< Folds to several code points, or to one that needs reordering: see expand().
};

struct CharEntry {
  CharKind kind = CharKind::kRemoved;
  char32_t folded = 0;  ///< Meaningful for kPunctuation and kWord.
};

/// The per-character half of BERT's basic tokenizer as Hugging Face's `tokenizers` library does it: that library's
/// categories are those of Unicode 8, its case mapping that of a newer version; char_table.cpp lists what differs
/// from ICU. Immutable after construction, so safe from any thread.
class CharTable {
 public:
  static constexpr std::size_t kExpandMax = 12;
  using Expansion = std::array<char32_t, kExpandMax>;

  explicit CharTable(FoldOptions options);

  CharEntry lookup(char32_t code_point) const {
    if (code_point < kTableSize) return unpack(entries_[code_point]);
    return unpack(compute(code_point));
  }

  /// Writes what the code point folds to and returns how many code points that is; none is looked up again.
  std::size_t expand(char32_t code_point, Expansion& out) const;

  /// kSpace, kPunctuation or kWord for a code point that is folded already.
  static CharKind kind_of_folded(char32_t code_point);

  /// Marks of one letter are sorted by this number, if it is not 0: the canonical combining class. 0 for everything
  /// when nothing is decomposed.
  std::uint8_t order_of(char32_t folded) const;

 private:
  // The basic plane and the next, where emoji live; what lies beyond is computed when met.
  static constexpr char32_t kTableSize = 0x20000;

  static CharEntry unpack(std::uint32_t packed) { return {static_cast<CharKind>(packed >> 24), static_cast<char32_t>(packed & 0xFFFFFF)}; }
  std::uint32_t compute(char32_t code_point) const;

  FoldOptions options_;
  std::vector<std::uint32_t> entries_;
};

}  // namespace footnote::nn
