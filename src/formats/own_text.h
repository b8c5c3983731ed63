#pragma once

#include <string>
#include <string_view>

#include "chunk/lines.h"
#include "chunk/parse.h"

namespace footnote::formats {

/// A document whose text is the file's own text (not extracted), cut into blocks of whole lines.
class OwnText {
 public:
  explicit OwnText(std::string text) : out_{.text = std::move(text)}, lines_(out_.text, 0) {}
  OwnText(const OwnText&) = delete;
  OwnText& operator=(const OwnText&) = delete;

  int count() const { return lines_.count(); }
  /// Line `index` from 0, without its line end; empty if out of range.
  std::string_view line(int index) const {
    const TextRange range = lines_.line(index);
    return std::string_view(out_.text).substr(range.begin, range.size());
  }
  bool is_blank(int index) const;

  /// Blocks must be added in order. Lines outside all blocks still become part of the neighbouring passages.
  void heading(int first, int last, int level, std::string_view text);
  void block(chunk::BlockKind kind, int first, int last);

  /// `title` wins over headings; empty: see chunk::settle_title.
  chunk::ParsedDocument finish(std::string_view key, std::string title) &&;

 private:
  bool add(chunk::BlockKind kind, int first, int last);

  chunk::ParsedDocument out_;
  chunk::LineIndex lines_;  ///< Borrows the text.
};

/// Leading spaces; a tab counts as four.
std::size_t indent_of(std::string_view line);

}  // namespace footnote::formats
