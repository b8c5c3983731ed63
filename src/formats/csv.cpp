#include <algorithm>
#include <array>

#include "base/text.h"
#include "chunk/parse.h"
#include "formats/builder.h"
#include "formats/read.h"
#include "formats/table.h"

namespace footnote::formats {

namespace {

/// Number of lines used to guess the separator.
constexpr int kGuessLines = 20;

/// The separator that occurs equally often in most of the first lines, outside quotes.
char guess_separator(std::string_view key, std::string_view text) {
  constexpr std::array<char, 4> kSeparators = {',', ';', '\t', '|'};
  if (const std::string suffix = suffix_of(key); suffix == "tsv" || suffix == "tab") return '\t';
  std::array<std::array<int, kGuessLines>, 4> counts{};
  int line = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' && ++line == kGuessLines) break;
    for (std::size_t i = 0; i < kSeparators.size(); ++i) counts[i][static_cast<std::size_t>(line)] += c == kSeparators[i];
  }
  const auto score = [&](std::size_t i) {
    const int wanted = counts[i][0];
    return wanted == 0 ? 0 : static_cast<int>(std::ranges::count(counts[i], wanted)) * kGuessLines + wanted;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kSeparators.size(); ++i) {
    if (score(i) > score(best)) best = i;
  }
  return kSeparators[best];
}

/// Reads one record after another. Never fails: a quote inside a field is text, and an unclosed one ends with the file.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  bool next(TableRow& row) {
    row.cells.clear();
    if (at_ >= text_.size()) return false;
    row.place = line_;
    for (bool goes_on = true; goes_on;) {
      std::string cell = field();
      // Keep one more than the limit, so that the loss is reported.
      if (row.cells.size() <= kTableColumnsMax) row.cells.push_back(std::move(cell));
      goes_on = at_ < text_.size() && text_[at_] == separator_;
      ++at_;
    }
    ++line_;
    return true;
  }

 private:
  /// Stops at the separator or line end after the field.
  std::string field() {
    std::string out;
    if (at_ < text_.size() && text_[at_] == '"') quoted(out);
    const std::size_t end = std::min(text_.find_first_of(std::array<char, 2>{separator_, '\n'}.data(), at_, 2), text_.size());
    out += text_.substr(at_, end - at_);
    at_ = end;
    return out;
  }

  void quoted(std::string& out) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        out += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        out += text_[++at_];
      } else {
        ++at_;
        return;
      }
    }
  }

  const std::string_view text_;
  const char separator_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

chunk::ParsedDocument read_csv(std::string_view key, std::string_view text) {
  DocumentBuilder builder(PlaceUnit::kLine, text_bytes_max(text.size()));
  TableWriter table(builder);
  CsvReader reader(text, guess_separator(key, text));
  for (TableRow row; !builder.is_full() && reader.next(row);) table.add(std::move(row));
  table.finish();
  chunk::ParsedDocument out = std::move(builder).finish();
  chunk::settle_title(key, {}, out);
  out.root_heading = out.attributes.title;
  return out;
}

}  // namespace footnote::formats
