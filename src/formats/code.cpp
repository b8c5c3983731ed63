#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/own_text.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

using chunk::BlockKind;

/// How definitions are recognised: by a simple rule per family of languages that looks at single lines. Not a parser.
enum class Family {
  kBraces,    ///< C, Java, JavaScript, Go, Rust ...: a line that opens a brace.
  kIndent,    ///< Python: "def", "class".
  kKeywords,  ///< Ruby, Lua, SQL, shell ...: a line that begins with a word such as "function".
};

Family family_of(std::string_view suffix) {
  constexpr std::string_view kIndented = " py pyi ";
  constexpr std::string_view kWords =
      " rb lua sql ex exs erl hrl jl r pl pm ps1 sh bash zsh fish f90 pas vb hs ml mli fs clj cljs lisp scm tex ";
  const std::string word = " " + std::string(suffix) + " ";
  if (kIndented.find(word) != std::string_view::npos) return Family::kIndent;
  return kWords.find(word) != std::string_view::npos || suffix.empty() ? Family::kKeywords : Family::kBraces;
}

constexpr std::size_t kNameBytesMax = 120;
/// A member of a class may be indented by this much.
constexpr std::size_t kMemberIndentMax = 4;

bool begins_with_word(std::string_view line, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return starts_with_ignoring_case(line, word) && line.size() > word.size() && !is_ascii_alphanumeric(line[word.size()]) &&
           line[word.size()] != '_';
  });
}

bool is_comment(std::string_view line) {
  return line.starts_with("//") || line.starts_with("/*") || line.starts_with('*') || line.starts_with('#') || line.starts_with("--") ||
         line.starts_with('@') || line.starts_with("\"\"\"") || line.starts_with(";;") || line.starts_with('%');
}

constexpr auto kControl = std::to_array<std::string_view>({"if", "else", "for", "while", "do", "switch", "case", "try", "catch", "return",
                                                           "with", "finally", "when", "match", "loop", "select", "default", "throw"});
constexpr auto kPython = std::to_array<std::string_view>({"def", "class", "async"});
constexpr auto kWords = std::to_array<std::string_view>(
    {"def",  "class", "module",   "function",  "sub",          "create",    "alter", "defmodule", "defp",   "local function", "let",
     "type", "data",  "instance", "\\section", "\\subsection", "\\chapter", "defn",  "(defn",     "(defun", "(define"});
/// Containers whose members are worth a section of their own.
constexpr auto kTypes = std::to_array<std::string_view>({"class", "struct", "interface", "enum", "trait", "impl", "namespace", "object",
                                                         "module", "export", "public", "abstract", "final", "pub", "record"});

/// A definition's level: 2 at the top, 3 for a member; 0 for other lines.
int definition_level(Family family, std::string_view line, std::string_view next) {
  const std::size_t indent = indent_of(line);
  const std::string_view text = trim(line);
  if (text.empty() || indent > kMemberIndentMax || is_comment(text)) return 0;
  const int level = indent == 0 ? 2 : 3;
  switch (family) {
    case Family::kIndent: return begins_with_word(text, kPython) ? level : 0;
    case Family::kKeywords:
      if (text.ends_with("() {") || text.ends_with("(){")) return level;
      return begins_with_word(text, kWords) ? level : 0;
    case Family::kBraces: break;
  }
  const bool opens = text.ends_with('{') || (trim(next) == "{" && text.ends_with(')'));
  if (!opens || text.starts_with('}') || text.starts_with('{') || begins_with_word(text, kControl)) return 0;
  const bool is_function = text.find('(') != std::string_view::npos;
  return is_function || begins_with_word(text, kTypes) ||
                 (indent == 0 && begins_with_word(text, std::array<std::string_view, 2>{"type", "func"}))
             ? level
             : 0;
}

/// "int area(int w, int h) {" without its brace, at most kNameBytesMax.
std::string_view name_of(std::string_view line) {
  line = trim(line);
  while (!line.empty() && (line.back() == '{' || line.back() == ':' || line.back() == ' ')) line.remove_suffix(1);
  return utf8_prefix(line, kNameBytesMax);
}

/// The first of the comment lines right above a definition: they are about it.
int first_with_comments(const OwnText& text, int index, int after) {
  while (index - 1 > after && is_comment(trim(text.line(index - 1)))) --index;
  return index;
}

}  // namespace

chunk::ParsedDocument read_code(std::string_view key, std::string text) {
  const Family family = family_of(suffix_of(key));
  OwnText out(std::move(text));
  int done = -1;  // The last line that is part of a block.
  const auto code_up_to = [&](int end) {
    for (int i = done + 1; i <= end; ++i) {
      if (out.is_blank(i)) continue;
      int last = i;
      while (last < end && !out.is_blank(last + 1)) ++last;
      out.block(BlockKind::kCode, i, last);
      i = last;
    }
    done = std::max(done, end);
  };
  for (int i = 0; i < out.count(); ++i) {
    const int level = definition_level(family, out.line(i), out.line(i + 1));
    if (level == 0) continue;
    const int first = first_with_comments(out, i, done);
    code_up_to(first - 1);
    out.heading(first, i, level, name_of(out.line(i)));
    done = i;
  }
  code_up_to(out.count() - 1);
  const std::string_view name = key.substr(key.find_last_of('/') + 1);
  return std::move(out).finish(key, std::string(name));
}

}  // namespace footnote::formats
