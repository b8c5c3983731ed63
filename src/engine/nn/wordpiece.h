#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/nn/char_table.h"
#include "engine/nn/vocabulary.h"

namespace footnote::nn {

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// Tokens of one text, in order. `ranges[i]` is where `ids[i]` stands in the ORIGINAL text: from the first byte of its
/// first character to past the last byte of its last, always at code point boundaries of well-formed text. Ranges
/// never go backwards. Marks that frame a sequence have empty ranges.
struct Tokens {
  std::vector<std::uint32_t> ids;
  std::vector<ByteRange> ranges;
  bool truncated = false;  ///< The text has more tokens than were asked for.
};

/// What "[MASK]" and the like mean when they stand in a text.
enum class Specials {
  kRecognise,  ///< The special token, as the reference does.
  kAsText,     ///< Characters like any other: for text that must not steer the model.
};

struct WordPieceOptions {
  bool lower_case = true;
  bool strip_accents = true;
};

/// BERT's WordPiece tokenizer, id for id what Hugging Face's BertTokenizer gives (clean-up, spacing of CJK ideographs,
/// lower case, accent stripping, punctuation, greedy longest pieces, words of more than 100 characters are [UNK]).
/// Any bytes are accepted: a malformed UTF-8 sequence reads as U+FFFD, which is dropped.
/// Immutable, so safe from any thread. Works on the first 4 GiB of a text.
class WordPiece {
 public:
  static constexpr std::size_t kWordCharsMax = 100;
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  /// `vocabulary_text` is the content of vocab.txt. kCorrupted: not a vocabulary, or [UNK], [CLS] or [SEP] is missing.
  static Result<WordPiece> create(std::string_view vocabulary_text, WordPieceOptions options);

  /// The text's own tokens, at most `tokens_max` of them.
  Tokens tokenize(std::string_view text, std::size_t tokens_max = kNoLimit, Specials specials = Specials::kRecognise) const;

  /// [CLS] text [SEP], `tokens_max` tokens in all: what an encoder takes. REQUIRES: tokens_max >= 2.
  Tokens frame(std::string_view text, std::size_t tokens_max, Specials specials = Specials::kRecognise) const;

  /// The same into `out`, whose memory is reused.
  void tokenize_into(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  std::uint32_t unknown_id() const { return unknown_id_; }
  std::uint32_t class_id() const { return class_id_; }          ///< [CLS]
  std::uint32_t separator_id() const { return separator_id_; }  ///< [SEP]

 private:
  class Run;
  struct Special {
    std::string_view text;
    std::uint32_t id;
  };

  WordPiece() = default;
  /// The special token that stands at the head of `text`, or nullptr.
  const Special* special_at(std::string_view text) const;
  void append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const;

  // Held by pointer so that moving a WordPiece leaves views into them valid.
  std::unique_ptr<const Vocabulary> vocabulary_;
  std::unique_ptr<const CharTable> characters_;
  std::vector<Special> specials_;
  std::uint32_t unknown_id_ = 0;
  std::uint32_t class_id_ = 0;
  std::uint32_t separator_id_ = 0;
};

}  // namespace footnote::nn
