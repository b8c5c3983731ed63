#include <algorithm>

#include "base/text.h"
#include "formats/own_text.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

using chunk::BlockKind;

/// Keys with a deeper indent are not headings.
constexpr std::size_t kHeadingIndentMax = 4;

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with(';'); }

/// "key:" or "- key:" with nothing after it, or "[section]": a heading for what follows. Empty for other lines.
std::string_view key_of(std::string_view line) {
  std::string_view text = trim(line);
  if (text.starts_with('[') && text.ends_with(']') && indent_of(line) == 0) return trim(text.substr(1, text.size() - 2));
  const std::size_t comment = text.find(" #");
  if (comment != std::string_view::npos) text = trim(text.substr(0, comment));
  if (!text.ends_with(':') || text.starts_with('-') || is_comment(text)) return {};
  text.remove_suffix(1);
  const bool is_word = std::ranges::all_of(text, [](char c) {
    return is_ascii_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 || std::string_view(" _-./\"'$").contains(c);
  });
  return is_word ? text : std::string_view();
}

}  // namespace

chunk::ParsedDocument read_yaml(std::string_view key, std::string text) {
  OwnText out(std::move(text));
  for (int i = 0; i < out.count(); ++i) {
    if (out.is_blank(i)) continue;
    const std::size_t indent = indent_of(out.line(i));
    const std::string_view name = indent <= kHeadingIndentMax ? key_of(out.line(i)) : std::string_view();
    if (!name.empty()) {
      out.heading(i, i, static_cast<int>(2 + indent / 2), name);
      continue;
    }
    int last = i;
    const auto goes_on = [&](int next) {
      const bool is_key = indent_of(out.line(next)) <= kHeadingIndentMax && !key_of(out.line(next)).empty();
      return next < out.count() && !out.is_blank(next) && !is_key;
    };
    while (goes_on(last + 1)) ++last;
    out.block(BlockKind::kCode, i, last);
    i = last;
  }
  return std::move(out).finish(key, chunk::title_of_key(key));
}

}  // namespace footnote::formats
