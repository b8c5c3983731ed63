#include "formats/table.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::formats {

namespace {

std::size_t filled(const TableRow& row) {
  return static_cast<std::size_t>(std::ranges::count_if(row.cells, [](const std::string& cell) { return !trim(cell).empty(); }));
}

bool is_header(const TableRow& row) { return filled(row) > 0 && std::ranges::none_of(row.cells, is_numeric); }

}  // namespace

bool is_numeric(const std::string& cell) {
  const std::string_view text = trim(cell);
  const bool has_digit = std::ranges::any_of(text, is_ascii_digit);
  return has_digit && text.find_first_not_of("0123456789+-.,:/ %eE$") == std::string_view::npos;
}

void TableWriter::add(TableRow row) {
  if (filled(row) == 0) return;
  if (started_) return write(row);
  held_.push_back(std::move(row));
  if (filled(held_.back()) > 1 || held_.size() > kRowsAboveMax) start();
}

/// The last buffered row is the first row of the table.
void TableWriter::start() {
  started_ = true;
  std::vector<TableRow> rows = std::move(held_);
  held_.clear();
  const bool is_table = filled(rows.back()) > 1;
  // In a list of single cells, the header looks like any other row; it is written as a row.
  const std::size_t first = is_table ? rows.size() - 1 : 0;
  for (std::size_t i = 0; i < first; ++i) {
    builder_.at(rows[i].place);
    builder_.paragraph(row_line(rows[i].cells));
  }
  const bool has_header = is_header(rows[first]);
  builder_.table(has_header ? rows[first].cells : std::vector<std::string>{});
  header_ = has_header ? std::optional(rows[first]) : std::nullopt;
  for (std::size_t i = first + (has_header ? 1 : 0); i < rows.size(); ++i) write(rows[i]);
}

void TableWriter::write(const TableRow& row) {
  header_.reset();
  builder_.at(row.place);
  builder_.row(row.cells);
}

void TableWriter::finish() {
  if (!started_ && !held_.empty()) start();
  // The header is the only row.
  if (header_) {
    builder_.table({});
    write(TableRow(*header_));
  }
}

}  // namespace footnote::formats
