#include "answer/length_limit.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::answer {

namespace {

constexpr std::string_view kCutMark = "\u2026";

std::size_t characters_of(std::string_view text) { return count_code_points(text); }

}  // namespace

LengthLimit::LengthLimit(std::size_t characters_max)
    : characters_max_(characters_max), free_characters_(characters_max - std::min(kHeldCharacters, characters_max / 2)) {}

std::string LengthLimit::show_until(std::size_t end) {
  if (end <= shown_) return {};
  std::string out = text_.substr(shown_, end - shown_);
  shown_ = end;
  shown_characters_ += characters_of(out);
  return out;
}

std::string LengthLimit::take(std::string_view piece) {
  if (full_) return {};
  text_ += piece;
  std::string out;
  // Counts whole code points only: a piece may end inside one.
  while (counted_ < text_.size() && characters_ < free_characters_) {
    const std::size_t bytes = utf8_sequence_bytes(text_[counted_]);
    if (counted_ + bytes > text_.size()) break;
    counted_ += bytes;
    ++characters_;
    free_end_ = counted_;
  }
  out += show_until(free_end_);
  for (const SentenceUnit& unit : cutter_.feed(text_)) {
    const std::string_view rest = std::string_view(text_).substr(shown_, unit.range.end > shown_ ? unit.range.end - shown_ : 0);
    // The white space after a sentence need not fit.
    const std::size_t wanted = shown_characters_ + characters_of(rest.substr(0, rest.find_last_not_of(" \n\r\t") + 1));
    if (wanted > characters_max_) return out + close();
    out += show_until(unit.range.end);
    last_sentence_end_ = unit.range.end;
  }
  // Far past the bound without the end of a sentence: stop waiting for one.
  if (text_.size() - shown_ > 4 * characters_max_) return out + close();
  return out;
}

std::string LengthLimit::finish() {
  if (full_) return {};
  if (shown_characters_ + characters_of(std::string_view(text_).substr(shown_)) <= characters_max_) return show_until(text_.size());
  std::string out;
  for (const SentenceUnit& unit : cutter_.finish(text_)) {
    const std::string_view rest = std::string_view(text_).substr(shown_, unit.range.end > shown_ ? unit.range.end - shown_ : 0);
    const std::size_t wanted = shown_characters_ + characters_of(rest.substr(0, rest.find_last_not_of(" \n\r\t") + 1));
    if (wanted > characters_max_) return out + close();
    out += show_until(unit.range.end);
    last_sentence_end_ = unit.range.end;
  }
  return out;
}

/// Ends the text. A partly shown sentence is completed up to the last word that fits.
std::string LengthLimit::close() {
  full_ = true;
  if (shown_ <= last_sentence_end_) return {};
  std::size_t end = shown_;
  std::size_t characters = shown_characters_;
  std::size_t last_word = shown_;
  while (end < text_.size() && characters + 1 < characters_max_) {
    if (text_[end] == ' ' || text_[end] == '\n') last_word = end;
    end += utf8_sequence_bytes(text_[end]);
    ++characters;
  }
  return show_until(last_word) + std::string(kCutMark);
}

}  // namespace footnote::answer
