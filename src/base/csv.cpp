#include "base/csv.h"

#include <algorithm>

#include "base/utf8.h"

namespace footnote {

namespace {

/// Reads the text field by field.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::size_t line() const { return line_; }

  /// True when a line end was skipped.
  bool skip_line_end() {
    const std::string_view rest = text_.substr(at_);
    const std::size_t bytes = rest.starts_with("\r\n") ? 2 : rest.starts_with("\n") ? 1 : 0;
    at_ += bytes;
    if (bytes > 0) ++line_;
    return bytes > 0;
  }
  bool skip_comma() {
    if (at_end() || text_[at_] != ',') return false;
    ++at_;
    return true;
  }
  Result<std::string> field() { return !at_end() && text_[at_] == '"' ? quoted() : plain(); }

 private:
  Result<std::string> plain() {
    const std::size_t end = std::min(text_.find_first_of(",\n\"", at_), text_.size());
    if (end < text_.size() && text_[end] == '"')
      return fail(ErrorCode::kInvalidArgument, "line {}: a quote inside an unquoted field", line_);
    std::string_view out = text_.substr(at_, end - at_);
    if (out.ends_with('\r')) out.remove_suffix(1);
    at_ += out.size();
    return std::string(out);
  }

  Result<std::string> quoted() {
    const std::size_t first_line = line_;
    std::string out;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        out += text_[at_];
        continue;
      }
      if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        out += text_[at_++];
        continue;
      }
      ++at_;
      const bool ends = at_end() || text_[at_] == ',' || text_.substr(at_).starts_with("\n") || text_.substr(at_).starts_with("\r\n");
      if (!ends) return fail(ErrorCode::kInvalidArgument, "line {}: text after the closing quote of a field", line_);
      return out;
    }
    return fail(ErrorCode::kInvalidArgument, "line {}: a quote is never closed", first_line);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRecord>> parse_csv(std::string_view text, std::size_t records_max) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t bad = first_invalid_utf8(text); bad < text.size()) {
    return fail(ErrorCode::kInvalidArgument, "line {}: not UTF-8", 1 + std::ranges::count(text.substr(0, bad), '\n'));
  }
  std::vector<CsvRecord> out;
  CsvReader reader(text);
  while (!reader.at_end()) {
    if (reader.skip_line_end()) continue;
    CsvRecord record{.line = reader.line(), .fields = {}};
    do {
      FOOTNOTE_TRY(std::string field, reader.field());
      record.fields.push_back(std::move(field));
    } while (reader.skip_comma());
    if (!reader.at_end() && !reader.skip_line_end()) {
      return fail(ErrorCode::kInvalidArgument, "line {}: a carriage return without a line feed", reader.line());
    }
    if (out.size() == records_max) return fail(ErrorCode::kTooLarge, "line {}: more than {} records", record.line, records_max);
    out.push_back(std::move(record));
  }
  return out;
}

}  // namespace footnote
