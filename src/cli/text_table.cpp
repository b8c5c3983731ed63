#include "cli/text_table.h"

#include <algorithm>

#include "base/assert.h"
#include "base/utf8.h"

namespace footnote::cli {

void TextTable::add(std::vector<std::string> cells) {
  FOOTNOTE_ASSERT(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::render() const {
  std::vector<std::string> titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  std::vector<const std::vector<std::string>*> lines{&titles};
  for (const auto& row : rows_) lines.push_back(&row);

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto* line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], count_code_points((*line)[i]));
  }
  std::string out;
  for (const auto* line : lines) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string pad(widths[i] - count_code_points((*line)[i]), ' ');
      if (i > 0) text += "  ";
      text += columns_[i].align == Align::kRight ? pad + (*line)[i] : (*line)[i] + pad;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace footnote::cli
