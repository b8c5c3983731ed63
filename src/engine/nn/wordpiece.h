#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/nn/added_tokens.h"
#include "engine/nn/char_table.h"
#include "engine/nn/tokenizer.h"
#include "engine/nn/vocabulary.h"

namespace footnote::nn {

struct WordPieceOptions {
  bool lower_case = true;
  bool strip_accents = true;     ///< If the reference's setting is null, it equals lower_case.
  bool space_ideographs = true;  ///< Each CJK ideograph is a word: `tokenize_chinese_chars`.
};

/// BERT's WordPiece tokenizer, with the same ids as Hugging Face's fast BertTokenizer (clean-up, spacing of CJK ideographs, lower case,
/// accent stripping, punctuation, greedy longest match; words of more than 100 characters are [UNK]). U+FFFD, and so every malformed byte,
/// is dropped.
class WordPiece final : public Tokenizer {
 public:
  static constexpr std::size_t kWordCharsMax = 100;

  /// The contents of a tokenizer's files. `added` tokens must not be `normalised`.
  struct Setup {
    Vocabulary vocabulary;
    WordPieceOptions options;
    std::vector<AddedToken> added;
    Frame marks;
    std::uint32_t unknown_id = 0;
    std::size_t tokens_max = kNoLimit;
  };

  explicit WordPiece(Setup setup);

  std::size_t vocabulary_size() const override { return vocabulary_size_; }
  std::string_view family() const override { return "wordpiece"; }

 private:
  class Run;

  bool append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const override;

  std::unique_ptr<const Vocabulary> vocabulary_;
  std::unique_ptr<const CharTable> characters_;
  AddedTokens added_;
  std::size_t vocabulary_size_ = 0;
};

}  // namespace footnote::nn
