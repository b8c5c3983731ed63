#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "code/definitions.h"

namespace footnote::code {
namespace {

constexpr std::string_view kTypes[] = {"struct", "class", "enum", "protocol", "extension", "actor", "func"};

/// Moves past comments, strings and single characters of Swift.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  char peek() const { return text_[at_]; }
  /// Past the comment or string at this place, or past one character.
  void next() {
    if (text_.substr(at_).starts_with("//")) return skip_to("\n", 0);
    if (text_.substr(at_).starts_with("/*")) return skip_comment();
    if (text_.substr(at_).starts_with("\"\"\"")) return skip_to("\"\"\"", 3);
    if (text_[at_] == '"') return skip_string();
    ++at_;
  }
  std::string_view word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_ascii_alphanumeric(text_[at_]) || text_[at_] == '_' || text_[at_] == '.' || (text_[at_] & 0x80) != 0))
      ++at_;
    return text_.substr(from, at_ - from);
  }

 private:
  void skip_to(std::string_view end, std::size_t skip) {
    const std::size_t found = text_.find(end, at_ + skip);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }
  /// Comments nest.
  void skip_comment() {
    int open = 0;
    do {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("/*")) {
        ++open;
        at_ += 2;
      } else if (rest.starts_with("*/")) {
        --open;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (open > 0 && at_ < text_.size());
  }
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

bool is_word_start(char c) { return is_ascii_alphanumeric(c) || c == '_' || c == '@'; }

/// Past the closing brace of the block that opens next; the end of the line for a declaration without one.
std::size_t end_of_block(Scanner& scanner) {
  int open = 0;
  while (!scanner.done()) {
    if (scanner.peek() == '{') ++open;
    const bool closes = scanner.peek() == '}' && --open <= 0;
    scanner.next();
    if (closes) break;
  }
  return scanner.at();
}

/// The start of the doc comment lines right above.
std::size_t with_comment(std::string_view text, std::size_t start) {
  std::size_t line = text.rfind('\n', start == 0 ? 0 : start - 1);
  line = line == std::string_view::npos || start == 0 ? 0 : line + 1;
  while (line > 0) {
    const std::size_t before = line < 2 ? std::string_view::npos : text.rfind('\n', line - 2);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view above = trim(text.substr(begin, line - 1 - begin));
    if (!above.starts_with("///") && !above.starts_with("@")) break;
    line = begin;
  }
  return line;
}

}  // namespace

void add_swift_units(std::string_view path, CodeFile& out) {
  const std::string_view text = out.text;
  Scanner scanner(text);
  std::map<std::string, int> seen;
  int lines_until = 0;
  std::size_t counted = 0;
  while (!scanner.done() && out.units.size() < kUnitsMax) {
    if (!is_word_start(scanner.peek())) {
      scanner.next();
      continue;
    }
    const std::size_t start = scanner.at();
    if (scanner.peek() == '@') scanner.next();
    const std::string_view word = scanner.word();
    if (word.empty()) continue;
    if (std::ranges::find(kTypes, word) == std::end(kTypes)) continue;
    while (!scanner.done() && scanner.peek() == ' ') scanner.next();
    const std::string name(scanner.word());
    if (name.empty() || name == "func" || name == "var" || name == "let") continue;
    const std::size_t head_end = std::min(text.find('{', scanner.at()), text.size());
    const std::string_view head = text.substr(scanner.at(), head_end - scanner.at());
    Unit unit{.kind = std::string(word == "func" ? "function" : word), .symbol = name};
    if (word == "struct" && head.find(':') != std::string_view::npos && head.substr(head.find(':')).find("View") != std::string_view::npos)
      unit.kind = "view";
    if (const int count = ++seen[unit.symbol]; count > 1) unit.symbol += " #" + std::to_string(count);
    unit.range = {with_comment(text, start), end_of_block(scanner)};
    lines_until += static_cast<int>(std::ranges::count(text.substr(counted, unit.range.begin - counted), '\n'));
    counted = unit.range.begin;
    unit.first_line = lines_until + 1;
    unit.last_line = unit.first_line + static_cast<int>(std::ranges::count(text.substr(unit.range.begin, unit.range.size()), '\n'));
    unit.header = std::string(path) + ": " + unit.kind + " " + unit.symbol;
    out.units.push_back(std::move(unit));
  }
}

}  // namespace footnote::code
