#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/builder.h"

namespace footnote::formats {

struct TableRow {
  std::vector<std::string> cells;
  int place = 1;
};

/// Writes the rows of a sheet: lines above the table as text, the header, then the rows under it. The header is the first row with more
/// than one cell among the first rows, if none of its cells is a number.
class TableWriter {
 public:
  explicit TableWriter(DocumentBuilder& builder) : builder_(builder) {}

  void add(TableRow row);
  /// Writes the rows that are still buffered.
  void finish();

 private:
  /// How many rows above the header may be text.
  static constexpr std::size_t kRowsAboveMax = 5;

  void write(const TableRow& row);
  void start();

  DocumentBuilder& builder_;
  bool started_ = false;
  std::vector<TableRow> held_;      ///< Buffered until the header is found.
  std::optional<TableRow> header_;  ///< Set until the first row under it is written.
};

/// True for "12", "-1.5", "12,5 %", "3.4e5".
bool is_numeric(const std::string& cell);

}  // namespace footnote::formats
