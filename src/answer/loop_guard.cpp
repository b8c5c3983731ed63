#include "answer/loop_guard.h"

#include "base/text.h"

namespace footnote::answer {

namespace {

constexpr std::uint64_t kHashStart = 0xCBF29CE484222325;
constexpr std::uint64_t kHashFactor = 0x100000001B3;
constexpr std::size_t kFenceTicks = 3;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * kHashFactor;
  return hash ^ (hash >> 29);
}

/// What a first byte says about its character.
struct Lead {
  std::size_t continuation = 0;
  bool is_letter = false;
  bool is_sign = false;
};

/// Scripts without spaces (Chinese, Japanese) and emoji: each character is a word. Punctuation of other blocks separates, as do bytes that
/// are no UTF-8.
Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {.is_letter = is_ascii_alphanumeric(static_cast<char>(byte))};
  if (byte < 0xC2 || byte > 0xF4) return {};
  if (byte < 0xE0) return {.continuation = 1, .is_letter = byte != 0xC2};
  if (byte < 0xF0) {
    const bool separates = byte == 0xE2 || byte == 0xEF;
    const bool is_sign = byte >= 0xE3 && byte <= 0xE9;
    return {.continuation = 2, .is_letter = !separates && !is_sign, .is_sign = is_sign};
  }
  return {.continuation = 3, .is_sign = true};
}

}  // namespace

bool LoopGuard::take(std::string_view piece) {
  for (const char c : piece) {
    if (loops_) break;
    take_byte(static_cast<unsigned char>(c));
  }
  return loops_;
}

void LoopGuard::take_byte(unsigned char byte) {
  if (continuation_ > 0 && (byte & 0xC0) == 0x80) {
    --continuation_;
  } else {
    const Lead lead = lead_of(byte);
    if (in_sign_ || lead.is_sign || !lead.is_letter) end_word();
    continuation_ = lead.continuation;
    in_letter_ = lead.is_letter;
    in_sign_ = lead.is_sign;
    follow_line(byte);
  }
  if (in_letter_ || in_sign_) return add_to_word(byte);
  loops_ = loops_ || ++wordless_bytes_ > kWordlessBytesMax;
}

void LoopGuard::follow_line(unsigned char byte) {
  if (byte == '\n') {
    at_line_start_ = opens_line_ = true;
    in_row_ = false;
    ticks_ = 0;
    return;
  }
  if (at_line_start_ && byte == '`') {
    if (++ticks_ == kFenceTicks) in_fence_ = !in_fence_;
    return;
  }
  if (at_line_start_ && byte == '|') in_row_ = true;
  if (!is_ascii_space(static_cast<char>(byte))) at_line_start_ = false;
}

void LoopGuard::add_to_word(unsigned char byte) {
  if (word_bytes_ == 0) {
    word_ = kHashStart;
    word_is_number_ = true;
  }
  word_is_number_ = word_is_number_ && is_ascii_digit(static_cast<char>(byte));
  word_ = mixed(word_, static_cast<unsigned char>(ascii_lower(static_cast<char>(byte))));
  wordless_bytes_ = 0;
  loops_ = loops_ || ++word_bytes_ > kWordBytesMax;
}

void LoopGuard::end_word() {
  if (word_bytes_ == 0) return;
  word_bytes_ = 0;
  const bool is_list_number = opens_line_ && word_is_number_;
  opens_line_ = false;
  if (is_list_number) return;
  count_phrases(word_);
  count_groups(word_);
}

void LoopGuard::count_phrases(std::uint64_t word) {
  for (std::size_t words = 1; words <= kPhraseWordsMax; ++words) {
    const bool same = words <= words_ && last_[(words_ - words) % kPhraseWordsMax] == word;
    same_[words] = same ? same_[words] + 1 : 0;
    const std::size_t factor = is_data() ? kDataFactor : 1;
    loops_ = loops_ || same_[words] >= times_max(words) * words * factor;
  }
  last_[words_ % kPhraseWordsMax] = word;
  ++words_;
}

void LoopGuard::count_groups(std::uint64_t word) {
  if (is_data()) return;
  const std::uint64_t group = mixed(mixed(mixed(mixed(kHashStart, before_[0]), before_[1]), before_[2]), word);
  before_[0] = before_[1];
  before_[1] = before_[2];
  before_[2] = word;
  if (++group_words_ < 4) return;
  const bool is_known = groups_.contains(group);
  if (!is_known && groups_.size() < kGroupsMax) groups_.insert(group);
  repeated_ <<= 1;
  repeated_[0] = is_known;
  loops_ = loops_ || repeated_.count() >= kStretchRepeatedMin;
}

}  // namespace footnote::answer
