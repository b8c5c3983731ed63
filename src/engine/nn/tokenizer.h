#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace footnote::nn {

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// The tokens of one text, in order. `ranges[i]` is the position of `ids[i]` in the ORIGINAL text, from the first byte of its first
/// character to past the last byte of its last, always at code point boundaries of well-formed text. Ranges never go backwards.
struct Tokens {
  std::vector<std::uint32_t> ids;
  std::vector<ByteRange> ranges;
  bool truncated = false;  ///< The text has more tokens than requested.
};

/// Two texts as one sequence: `[CLS] first [SEP] second [SEP]` or `<s> first </s></s> second </s>`.
struct PairTokens {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> types;  ///< Token type ids, as in the model's training.
  std::vector<ByteRange> ranges;    ///< Positions in the respective text; empty for special tokens.
  std::size_t first_end = 0;        ///< ids[1, first_end) belong to the first text.
  bool truncated = false;           ///< Tokens of either text were dropped.
};

/// How special tokens such as "[MASK]" are read when they occur in a text.
enum class Specials {
  kRecognise,  ///< As the special token, like the reference.
  kAsText,     ///< As ordinary characters, so that untrusted text cannot inject special tokens.
};

/// Which of two texts is truncated when both don't fit.
enum class PairTruncation {
  kLongestFirst,  ///< The longer one, then both: the reference's default.
  kOnlySecond,    ///< The second only. If the first does not fit alone, it is truncated too (the reference fails).
};

/// The special tokens around sequences.
struct Frame {
  std::uint32_t begin = 0;       ///< [CLS] or <s>
  std::uint32_t end = 0;         ///< [SEP] or </s>
  std::size_t middle_count = 1;  ///< How many `end` tokens separate two texts: 1 in BERT, 2 in RoBERTa.
  std::uint8_t second_type = 1;  ///< The token type of the second text and its end token.
};

/// Splits text into the tokens of a model, with the same ids and ranges as Hugging Face's `tokenizers` library for the same vocabulary.
/// Accepts any bytes: a malformed byte reads as U+FFFD. Immutable and thread-safe. Uses the first 4 GiB of a text.
class Tokenizer {
 public:
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  virtual ~Tokenizer() = default;

  /// The text's tokens without special tokens, at most `tokens_max`.
  Tokens tokenize(std::string_view text, std::size_t tokens_max = kNoLimit, Specials specials = Specials::kRecognise) const;

  /// Like tokenize(), but writes to `out` and reuses its memory.
  void tokenize_into(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const;

  /// Adds special tokens around tokens: the input of an encoder.
  std::vector<std::uint32_t> frame_ids(std::span<const std::uint32_t> ids) const;

  /// Both texts with special tokens, `tokens_max` tokens in all. REQUIRES: tokens_max >= pair_frame_tokens().
  PairTokens frame_pair(std::string_view first, std::string_view second, std::size_t tokens_max, Specials specials = Specials::kRecognise,
                        PairTruncation truncation = PairTruncation::kLongestFirst) const;

  /// The number of tokens that frame_ids() adds.
  std::size_t frame_tokens() const { return 2; }
  /// The number of tokens that frame_pair() adds.
  std::size_t pair_frame_tokens() const { return 2 + marks_.middle_count; }

  /// Every id is below this.
  virtual std::size_t vocabulary_size() const = 0;
  /// "wordpiece" or "unigram".
  virtual std::string_view family() const = 0;

  const Frame& marks() const { return marks_; }
  std::uint32_t unknown_id() const { return unknown_id_; }
  /// The longest sequence that the tokenizer's files allow, special tokens included; kNoLimit when they don't say.
  std::size_t tokens_max() const { return tokens_max_; }

 protected:
  Tokenizer(const Frame& marks, std::uint32_t unknown_id, std::size_t tokens_max)
      : marks_(marks), unknown_id_(unknown_id), tokens_max_(tokens_max) {}
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;

 private:
  /// Appends the text's tokens until `out` has `tokens_max`; true when the text has more. REQUIRES: text.size() fits 32 bits.
  virtual bool append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const = 0;

  void append_readable(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const;

  Frame marks_;
  std::uint32_t unknown_id_;
  std::size_t tokens_max_;
};

}  // namespace footnote::nn
