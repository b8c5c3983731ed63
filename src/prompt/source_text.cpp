#include "prompt/source_text.h"

#include "base/utf8.h"

namespace footnote::prompt {

namespace {

bool is_invisible(char32_t c) {
  return c == 0xAD || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2069) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

}  // namespace

std::string without_invisible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (!is_invisible(next_code_point(text, at))) out += text.substr(begin, at - begin);
  }
  return out;
}

}  // namespace footnote::prompt
