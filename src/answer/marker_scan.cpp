#include "answer/marker_scan.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::answer {

void MarkerScan::feed(std::string_view text) {
  for (const char c : text) take(c);
}

void MarkerScan::take(char c) {
  constexpr std::size_t kInsideMax = 24;
  const bool starts_code_point = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (c == '[') {
    is_open_ = true;
    open_ = {.source = 0, .begin = position_, .end = 0, .byte_begin = bytes_};
    inside_.clear();
  } else if (is_open_ && c == ']') {
    is_open_ = false;
    for (const std::string_view piece : split(inside_, ',')) {
      const std::string_view digits = trim(piece);
      std::size_t number = 0;
      for (const char digit : digits) number = std::min<std::size_t>(number * 10 + static_cast<std::size_t>(digit - '0'), kMarksMax * 10);
      if (number < 1 || number > source_count_ || marks_.size() >= kMarksMax) continue;
      marks_.push_back({.source = number, .begin = open_.begin, .end = position_ + 1, .byte_begin = open_.byte_begin});
    }
  } else if (is_open_) {
    const bool fits = (c >= '0' && c <= '9') || c == ',' || c == ' ';
    if (!fits || inside_.size() == kInsideMax) {
      is_open_ = false;
    } else {
      inside_ += c;
    }
  }
  if (starts_code_point) ++position_;
  ++bytes_;
}

}  // namespace footnote::answer
