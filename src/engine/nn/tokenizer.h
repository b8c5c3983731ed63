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

/// Tokens of one text, in order. `ranges[i]` is where `ids[i]` stands in the ORIGINAL text: from the first byte of its
/// first character to past the last byte of its last, always at code point boundaries of well-formed text. Ranges
/// never go backwards. Marks that frame a sequence have empty ranges.
struct Tokens {
  std::vector<std::uint32_t> ids;
  std::vector<ByteRange> ranges;
  bool truncated = false;  ///< The text has more tokens than were asked for.
};

/// Two texts as one sequence: `[CLS] first [SEP] second [SEP]` or `<s> first </s></s> second </s>`.
struct PairTokens {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> types;  ///< Token type ids, as the model was trained with them.
  std::vector<ByteRange> ranges;    ///< Each in the text of its own side; empty for the marks.
  std::size_t first_begin = 0;      ///< ids[first_begin, first_end) are of the first text,
  std::size_t first_end = 0;
  std::size_t second_begin = 0;  ///< ids[second_begin, second_end) of the second.
  std::size_t second_end = 0;
  bool truncated = false;  ///< Tokens of either text were left out.
};

/// What "[MASK]" and the like mean when they stand in a text.
enum class Specials {
  kRecognise,  ///< The special token, as the reference does.
  kAsText,     ///< Characters like any other: for text that must not steer the model.
};

/// Which of two texts gives way when both don't fit.
enum class PairTruncation {
  kLongestFirst,  ///< The longer one, then both: the reference's default.
  kOnlySecond,    ///< The second alone; the first too only when it does not fit by itself, which the reference refuses.
};

/// The marks around sequences.
struct Frame {
  std::uint32_t begin = 0;       ///< [CLS] or <s>
  std::uint32_t end = 0;         ///< [SEP] or </s>
  std::size_t middle_count = 1;  ///< How many `end` stand between two texts: 1 as BERT does, 2 as RoBERTa does.
  std::uint8_t second_type = 1;  ///< The token type of the second text and the mark after it.
};

/// Cuts text into the tokens of a model, id for id and range for range what Hugging Face's `tokenizers` library gives
/// for the same vocabulary. Any bytes are accepted: a byte that is no part of well-formed UTF-8 reads as U+FFFD.
/// Immutable, so safe from any thread. Works on the first 4 GiB of a text.
class Tokenizer {
 public:
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  virtual ~Tokenizer() = default;

  /// The text's own tokens, at most `tokens_max` of them.
  Tokens tokenize(std::string_view text, std::size_t tokens_max = kNoLimit, Specials specials = Specials::kRecognise) const;

  /// The same into `out`, whose memory is reused.
  void tokenize_into(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const;

  /// The text between the marks, `tokens_max` tokens in all: what an encoder takes. REQUIRES: tokens_max >= frame_tokens().
  Tokens frame(std::string_view text, std::size_t tokens_max, Specials specials = Specials::kRecognise) const;

  /// Tokens made before, between the marks: for windows over a long text.
  std::vector<std::uint32_t> frame_ids(std::span<const std::uint32_t> ids) const;

  /// Both texts between marks, `tokens_max` tokens in all. REQUIRES: tokens_max >= pair_frame_tokens().
  PairTokens frame_pair(std::string_view first, std::string_view second, std::size_t tokens_max, Specials specials = Specials::kRecognise,
                        PairTruncation truncation = PairTruncation::kLongestFirst) const;

  /// How many tokens frame() adds.
  std::size_t frame_tokens() const { return 2; }
  /// How many tokens frame_pair() adds.
  std::size_t pair_frame_tokens() const { return 2 + marks_.middle_count; }

  /// Every id is below this.
  virtual std::size_t vocabulary_size() const = 0;
  /// "wordpiece" or "unigram".
  virtual std::string_view family() const = 0;

  const Frame& marks() const { return marks_; }
  std::uint32_t unknown_id() const { return unknown_id_; }
  /// The longest sequence that the tokenizer's files allow, marks included; kNoLimit when they don't say.
  std::size_t tokens_max() const { return tokens_max_; }

 protected:
  Tokenizer(const Frame& marks, std::uint32_t unknown_id, std::size_t tokens_max)
      : marks_(marks), unknown_id_(unknown_id), tokens_max_(tokens_max) {}
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;

 private:
  /// Appends the text's tokens until `out` has `tokens_max`; true when the text has more.
  /// REQUIRES: text.size() fits 32 bits.
  virtual bool append(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const = 0;

  void append_readable(std::string_view text, std::size_t tokens_max, Specials specials, Tokens& out) const;

  Frame marks_;
  std::uint32_t unknown_id_;
  std::size_t tokens_max_;
};

}  // namespace footnote::nn
