#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace footnote::nn {

/// How BERT's text cleaning treats letters.
struct FoldOptions {
  bool lower_case = true;
  bool strip_accents = true;     ///< Canonical decomposition; then non-spacing marks are dropped.
  bool space_ideographs = true;  ///< CJK ideographs are kIdeograph, not kWord.
};

/// How the tokenizer treats a code point of the input.
enum class CharKind : std::uint8_t {
  kRemoved,      ///< Control and format characters, NUL, U+FFFD: ignored.
  kStripped,     ///< An accent. It is dropped, but only after the marks were sorted: see order_of().
  kSpace,        ///< Ends a word.
  kPunctuation,  ///< A word by itself.
  kWord,         ///< Part of a word.
  kIdeograph,    ///< A CJK ideograph: a word by itself, folded by expand().
  kMany,         ///< Folds to several code points, or to one that needs reordering: see expand().
};

struct CharEntry {
  CharKind kind = CharKind::kRemoved;
  char32_t folded = 0;  ///< Valid for kPunctuation and kWord.
};

/// The per-character part of BERT's basic tokenizer, equal to Hugging Face's `tokenizers` library. That library uses the categories of
/// Unicode 8 and the case mapping of a newer version; char_table.cpp lists the differences from ICU. Immutable and thread-safe.
class CharTable {
 public:
  static constexpr std::size_t kExpandMax = 12;
  using Expansion = std::array<char32_t, kExpandMax>;

  explicit CharTable(FoldOptions options);

  CharEntry lookup(char32_t code_point) const {
    if (code_point < kTableSize) return unpack(entries_[code_point]);
    return unpack(compute(code_point));
  }

  /// Writes the code points to which this one folds and returns their number; they are final.
  std::size_t expand(char32_t code_point, Expansion& out) const;

  /// The kind of a code point that is already folded: kSpace, kPunctuation or kWord.
  static CharKind kind_of_folded(char32_t code_point);

  /// The canonical combining class: marks of a letter are sorted by it, unless it is 0. Always 0 when nothing is decomposed.
  std::uint8_t order_of(char32_t folded) const;

 private:
  // Planes 0 and 1 (emoji are in plane 1); code points beyond are computed on the fly.
  static constexpr char32_t kTableSize = 0x20000;

  static CharEntry unpack(std::uint32_t packed) { return {static_cast<CharKind>(packed >> 24), static_cast<char32_t>(packed & 0xFFFFFF)}; }
  std::uint32_t compute(char32_t code_point) const;

  FoldOptions options_;
  std::vector<std::uint32_t> entries_;
};

}  // namespace footnote::nn
