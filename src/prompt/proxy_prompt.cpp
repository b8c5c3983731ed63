#include "prompt/proxy_prompt.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "prompt/source_text.h"

namespace footnote::prompt {

namespace {

/// Everything that counts as the end of a line: LF, VT, FF, CR, NEL and the two separators.
bool ends_line(char32_t c) { return (c >= 0x0A && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029; }

bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Marks that Markdown and quoting put before a line's first word.
bool is_mark(char32_t c) { return c == '>' || c == '*' || c == '#' || c == '_' || c == '-' || c == '`' || c == '"' || c == '|'; }

/// Maps full-width, mathematical and other forms of a letter, digit or bracket to the plain one.
char32_t folded(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) c -= 0xFEE0;
  if (c >= 0x1D400 && c <= 0x1D6A3) c = 'a' + (c - 0x1D400) % 26;  // thirteen styles of A..Z and a..z
  if (c >= 0x24B6 && c <= 0x24E9) c = 'a' + (c - 0x24B6) % 26;     // circled letters
  if (c == 0x3010 || c == 0x2045 || c == 0x27E6) c = '[';
  if (c == 0x2236 || c == 0xFE55 || c == 0xFE13) c = ':';
  if (c == 0x17F) c = 's';
  // Look-alike letters of other scripts.
  if (c == 0x405 || c == 0x455) c = 's';
  if (c == 0x41E || c == 0x43E || c == 0x39F || c == 0x3BF) c = 'o';
  if (c == 0x421 || c == 0x441 || c == 0x3F2) c = 'c';
  if (c == 0x415 || c == 0x435 || c == 0x395) c = 'e';
  return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/// The first letters and marks of a line, folded and without spaces: enough to recognise a part of the layout.
std::string opening_of(std::string_view line) {
  constexpr std::size_t kOpeningBytes = 12;
  std::string out;
  for (std::size_t at = 0; at < line.size() && out.size() < kOpeningBytes;) {
    const char32_t c = folded(next_code_point(line, at));
    if (is_space(c) || (out.empty() && is_mark(c))) continue;
    append_utf8(out, c);
  }
  return out;
}

bool looks_like_a_part(std::string_view line) {
  const std::string opening = opening_of(line);
  return opening.starts_with("source[") || opening.starts_with("sources[") || opening.starts_with("sources:") ||
         opening.starts_with("question:") || opening.starts_with("context:");
}

/// Keeps a URL on one line.
std::string one_line(std::string_view url) {
  std::string out;
  for (std::size_t at = 0; at < url.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(url, at);
    if (c >= 0x20 && !ends_line(c)) out += url.substr(begin, at - begin);
  }
  return out;
}

}  // namespace

std::string defuse_lines(std::string_view text) {
  const std::string visible = without_invisible(text);
  const std::string_view all = visible;
  std::string out;
  out.reserve(all.size() + 8);
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size()) {
      if (ends_line(next_code_point(all, end))) break;
    }
    const std::string_view line = all.substr(begin, end - begin);
    if (looks_like_a_part(line)) out += ' ';
    out += line;
    begin = end;
  }
  return out;
}

std::string build_proxy_message(std::string_view question, std::span<const PromptSource> sources, std::size_t characters_max) {
  std::string blocks;
  std::string list;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string url = one_line(sources[i].url);
    const std::string_view kept = first_code_points(sources[i].text, characters_max);
    blocks +=
        fmt::format("Source [{}] {}\n{}{}\n\n", i + 1, url, defuse_lines(kept), kept.size() < sources[i].text.size() ? "\n...\n" : "");
    list += fmt::format("- [{}] {}\n", i + 1, url);
  }
  return fmt::format("Question: {}\n\nContext:\n{}Sources:\n{}\n", question, blocks, list);
}

}  // namespace footnote::prompt
