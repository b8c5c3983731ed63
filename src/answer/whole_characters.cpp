#include "answer/whole_characters.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace footnote::answer {

namespace {

/// Bytes at the end that may be the beginning of a character.
std::size_t open_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const char c = text[text.size() - back];
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    return static_cast<unsigned char>(c) >= 0xC2 && utf8_sequence_bytes(c) > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string WholeCharacters::take(std::string_view piece) {
  std::string text = std::exchange(held_, {}).append(piece);
  held_ = text.substr(text.size() - open_bytes(text));
  text.resize(text.size() - held_.size());
  return is_valid_utf8(text) ? text : repair_utf8(text);
}

std::string WholeCharacters::finish() { return repair_utf8(std::exchange(held_, {})); }

}  // namespace footnote::answer
