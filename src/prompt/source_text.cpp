#include "prompt/source_text.h"

#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace footnote::prompt {

namespace {

/// Entities can be nested; beyond this depth the remaining ones are broken by removing their "&".
constexpr int kEntityLayersMax = 8;
constexpr std::size_t kEntityBytesMax = 16;
constexpr std::string_view kTagName = "source";

bool is_invisible(char32_t c) {
  return c == 0xAD || c == 0x34F || c == 0x61C || (c >= 0x115F && c <= 0x1160) || (c >= 0x17B4 && c <= 0x17B5) ||
         (c >= 0x180B && c <= 0x180F) || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         c == 0x3164 || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || c == 0xFFA0 || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_control(char32_t c) { return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F); }

/// Maps letters of other scripts to the letters of the tag's name that they resemble.
char32_t look_alike(char32_t c) {
  switch (c) {
    case 0x455:
    case 0x405:
    case 0x17F:
    case 0x585: return c == 0x585 ? 'o' : 's';
    case 0x43E:
    case 0x41E:
    case 0x3BF:
    case 0x39F: return 'o';
    case 0x57D:
    case 0x1D1C:
    case 0x28B: return 'u';
    case 0x433:
    case 0x1D26: return 'r';
    case 0x441:
    case 0x421:
    case 0x3F2:
    case 0x3F9: return 'c';
    case 0x435:
    case 0x415:
    case 0x395:
    case 0x212E: return 'e';
    default: return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
  }
}

bool is_word(char32_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c >= 0xC0; }

/// Whether the text after a "<" spells the tag's name, ignoring other characters before and between its letters.
bool spells_tag(std::string_view text) {
  constexpr std::size_t kGapMax = 24;  // total number of non-letters allowed
  std::size_t spelled = 0;
  std::size_t gaps = 0;
  for (std::size_t at = 0; at < text.size() && spelled < kTagName.size();) {
    const char32_t c = look_alike(next_code_point(text, at));
    if (c == static_cast<char32_t>(kTagName[spelled])) {
      ++spelled;
    } else if (is_word(c) || c == '<' || ++gaps > kGapMax) {
      return false;
    }
  }
  return spelled == kTagName.size();
}

std::string visible_and_folded(std::string_view text) {
  std::string out;
  const std::string folded = to_nfkc(without_invisible(text));
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(folded, at);
    // Folding can produce invisible or control characters.
    if (!is_invisible(c) && !is_control(c)) out += std::string_view(folded).substr(begin, at - begin);
  }
  return out;
}

std::optional<char32_t> number_of(std::string_view digits) {
  const bool hexadecimal = !digits.empty() && (digits[0] == 'x' || digits[0] == 'X');
  if (hexadecimal) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  char32_t value = 0;
  for (const char digit : digits) {
    const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + 32) : digit;
    const bool is_digit = lower >= '0' && lower <= '9';
    if (!is_digit && !(hexadecimal && lower >= 'a' && lower <= 'f')) return std::nullopt;
    value = value * (hexadecimal ? 16 : 10) + static_cast<char32_t>(is_digit ? lower - '0' : lower - 'a' + 10);
    if (value > 0x10FFFF) return std::nullopt;
  }
  return value == 0 || (value >= 0xD800 && value <= 0xDFFF) ? std::nullopt : std::optional(value);
}

struct Entity {
  char32_t meaning;
  std::size_t bytes;
};

/// Parses the entity at the start of `text`, which begins with "&". Like browsers, accepts some without a semicolon.
std::optional<Entity> entity_at(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char32_t>, 12> kNamed{{{"lt", '<'},
                                                                                 {"gt", '>'},
                                                                                 {"amp", '&'},
                                                                                 {"quot", '"'},
                                                                                 {"apos", '\''},
                                                                                 {"sol", '/'},
                                                                                 {"bsol", '\\'},
                                                                                 {"nbsp", ' '},
                                                                                 {"newline", '\n'},
                                                                                 {"tab", '\t'},
                                                                                 {"num", '#'},
                                                                                 {"semi", ';'}}};
  std::size_t end = 1;
  const auto is_part = [](char c) { return c == '#' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  while (end < text.size() && end < kEntityBytesMax && is_part(text[end])) ++end;
  const bool closed = end < text.size() && text[end] == ';';
  const std::string_view body = text.substr(1, end - 1);
  if (body.starts_with('#')) {
    std::string_view digits = body.substr(1);
    if (const auto meaning = number_of(digits)) return Entity{*meaning, end + (closed ? 1 : 0)};
    // "&#60source": the number ends where its digits do.
    std::size_t count = 0;
    while (count < digits.size() && digits[count] >= '0' && digits[count] <= '9') ++count;
    const auto meaning = number_of(digits.substr(0, count));
    return meaning ? std::optional(Entity{*meaning, 2 + count}) : std::nullopt;
  }
  const std::string name = to_lower_ascii(body);
  for (const auto& [known, meaning] : kNamed) {
    if (closed ? name == known : name.starts_with(known) && known.size() <= 3) {
      return Entity{meaning, closed ? end + 1 : 1 + known.size()};
    }
  }
  return std::nullopt;
}

std::string with_entities_read(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto entity = text[at] == '&' ? entity_at(text.substr(at)) : std::nullopt;
    if (entity) {
      append_utf8(out, entity->meaning);
      at += entity->bytes;
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

/// Removes all layers of folding and entities.
std::string plain_of(std::string_view text) {
  std::string plain = visible_and_folded(text);
  for (int layer = 0; layer < kEntityLayersMax; ++layer) {
    std::string next = visible_and_folded(with_entities_read(plain));
    if (next == plain) return plain;
    plain = std::move(next);
  }
  std::erase(plain, '&');
  return plain;
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  // The separators U+2028 and U+2029 end a line too.
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c == 0x2028 || c == 0x2029) {
      out.push_back(' ');
    } else {
      out += std::string_view(text).substr(begin, at - begin);
    }
  }
  return fold_spaces(out);
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

std::string as_data(std::string_view text, std::size_t bytes_max) {
  std::string out = plain_of(utf8_prefix(text, bytes_max));
  out.resize(utf8_prefix(out, bytes_max).size());  // folding can lengthen the text
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '<' && spells_tag(std::string_view(out).substr(at + 1))) out[at] = '(';
  }
  return out;
}

std::string as_line(std::string_view text, std::size_t bytes_max) { return one_line(as_data(text, bytes_max)); }

std::string as_attribute(std::string_view text, std::size_t bytes_max) {
  std::string out = as_line(text, bytes_max);
  for (char& c : out) {
    if (c == '<') c = '(';
    if (c == '>') c = ')';
    if (c == '"') c = '\'';
  }
  return out;
}

}  // namespace footnote::prompt
