#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/nn/added_tokens.h"
#include "engine/nn/chars_map.h"
#include "engine/nn/piece_trie.h"
#include "engine/nn/tokenizer.h"

namespace footnote::nn {

/// SentencePiece's unigram tokenizer as used by XLM-RoBERTa, with the same ids as Hugging Face's `tokenizers` library: characters are
/// mapped, white space becomes U+2581 at the start of words, and each word is split into the pieces with the highest sum of scores. A
/// malformed byte reads as U+FFFD. Needs about 40 bytes of memory for each byte of the longest word.
class Unigram final : public Tokenizer {
 public:
  static constexpr std::size_t kPiecesMax = 1U << 22;

  struct Piece {
    std::string text;
    double score = 0;
  };

  /// Which parts of a text get a missing U+2581 prepended: parts between added tokens, or words when `split_spaces`.
  enum class Prefix { kAlways, kFirst, kNever };
  /// What runs of U+0020 become before added tokens are matched in normalised text.
  enum class Runs { kKept, kOneSpace, kOneMark };

  struct Spaces {
    bool split_spaces = true;  ///< Any white space ends a word and is dropped; else U+0020 becomes U+2581.
    bool split_words = true;   ///< Each U+2581 starts a word; else only split_spaces does.
    Runs runs = Runs::kKept;
    bool strip_left = false;  ///< White space at the ends of the text is dropped.
    bool strip_right = false;
    Prefix prefix = Prefix::kAlways;
  };

  /// The contents of a tokenizer's files.
  struct Setup {
    std::vector<Piece> pieces;  ///< In the order of their ids.
    std::uint32_t unknown_id = 0;
    bool byte_fallback = false;  ///< Unknown text becomes the byte pieces "<0x00>" to "<0xFF>", if all the necessary ones exist.
    CharsMap map;
    Spaces spaces;
    std::vector<AddedToken> added;
    Frame marks;
    std::size_t tokens_max = kNoLimit;
  };

  /// kCorrupted: no pieces, more than kPiecesMax, one that is not UTF-8 or has no finite score, or an id out of range.
  static Result<std::unique_ptr<const Unigram>> create(Setup setup);

  std::size_t vocabulary_size() const override { return vocabulary_size_; }
  std::string_view family() const override { return "unigram"; }

 private:
  class Run;

  Unigram(Setup setup, PieceTrie trie);
  bool append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const override;

  PieceTrie trie_;
  std::vector<double> scores_;
  std::vector<bool> special_;  // Pieces that Specials::kAsText never produces.
  double unknown_score_ = 0;
  std::vector<std::uint32_t> bytes_;  // The ids of "<0x00>" to "<0xFF>"; empty without byte_fallback.
  CharsMap map_;
  Spaces spaces_;
  AddedTokens added_;             // Tokens matched in the original text.
  AddedTokens normalised_added_;  // Tokens matched in the normalised text.
  std::size_t vocabulary_size_ = 0;
};

}  // namespace footnote::nn
