#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace footnote::cli {

enum class Align { kLeft, kRight };

/// An aligned text table: two spaces between columns, no borders. Widths count code points.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// REQUIRES: as many cells as columns.
  void add(std::vector<std::string> cells);
  /// One line per row, the titles first; trailing spaces are cut.
  std::string render() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace footnote::cli
