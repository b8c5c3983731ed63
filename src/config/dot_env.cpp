#include "config/dot_env.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace footnote {
namespace {

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// The text between quotes, which must be closed on the same line.
Result<std::string> unquote(std::string_view text) {
  const char quote = text[0];
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      const std::string_view rest = trim(text.substr(i + 1));
      if (!rest.empty() && rest[0] != '#') return fail(ErrorCode::kInvalidArgument, "text after the closing quote");
      return out;
    }
    if (quote == '"' && text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      out += text[i] == 'n' ? '\n' : text[i];
    } else {
      out += text[i];
    }
  }
  return fail(ErrorCode::kInvalidArgument, "the quote is not closed");
}

std::string bare_value(std::string_view text) {
  const auto comment = text.find(" #");
  return std::string(trim(text.substr(0, comment)));
}

Result<DotEnvEntry> parse_line(std::string_view line) {
  if (line.starts_with("export ")) line = trim(line.substr(7));
  const auto equals = line.find('=');
  const std::string_view name = trim(line.substr(0, equals));
  if (equals == std::string_view::npos || !is_name(name)) {
    return fail(ErrorCode::kInvalidArgument, "expected NAME=value");
  }
  const std::string_view value = trim(line.substr(equals + 1));
  DotEnvEntry entry;
  entry.name = std::string(name);
  if (!value.empty() && (value[0] == '"' || value[0] == '\'')) {
    FOOTNOTE_TRY(entry.value, unquote(value));
  } else {
    entry.value = bare_value(value);
  }
  return entry;
}

/// In one pass, so that a file with many names does not take quadratic time.
void keep_last_of_each_name(std::vector<DotEnvEntry>& entries) {
  std::map<std::string_view, int> last_lines;
  for (const DotEnvEntry& entry : entries) last_lines[entry.name] = entry.line;
  std::vector<DotEnvEntry> kept;
  for (const DotEnvEntry& entry : entries) {
    if (last_lines[entry.name] == entry.line) kept.push_back(entry);
  }
  entries = std::move(kept);
}

}  // namespace

Result<std::vector<DotEnvEntry>> parse_dot_env(std::string_view text, std::string_view file) {
  std::vector<DotEnvEntry> entries;
  int number = 0;
  for (std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line[0] == '#') continue;
    auto entry = parse_line(line);
    if (!entry) return with_context(std::move(entry).error(), fmt::format("{}:{}", file, number));
    entry->line = number;
    entries.push_back(*std::move(entry));
  }
  keep_last_of_each_name(entries);
  return entries;
}

}  // namespace footnote
