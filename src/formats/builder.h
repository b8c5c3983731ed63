#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/parse.h"

namespace footnote::formats {

/// A table is written in groups of rows, each repeating the header, so that every passage has it. A group is small enough that the chunker
/// does not cut it.
inline constexpr std::size_t kTableGroupBytes = 900;
/// A wider row is written as one line for each cell: "Header: value".
inline constexpr std::size_t kTableRowBytesMax = 700;
/// Further columns are left out of a table, and this is reported.
inline constexpr std::size_t kTableColumnsMax = 256;

/// Limit on the extracted text, by the size of the file; the rest is left out, and this is reported.
inline constexpr std::size_t kTextBytesBase = 2u << 20;
inline constexpr std::size_t kTextBytesPerByte = 8;
constexpr std::size_t text_bytes_max(std::size_t file_bytes) {
  const std::size_t most = kTextBytesBase + kTextBytesPerByte * file_bytes;
  return most < chunk::kDocumentBytesMax ? most : chunk::kDocumentBytesMax;
}

/// Builds the extracted text of a document (PDF, DOCX ...), with its blocks and places. The text has the form of an extracted web page: a
/// blank line between blocks, headings as plain lines, list items "- ", table rows "cell | cell". Inputs must be well-formed UTF-8; white
/// space in them is collapsed, except in code.
class DocumentBuilder {
 public:
  DocumentBuilder(PlaceUnit unit, std::size_t text_bytes_max) : text_bytes_max_(text_bytes_max) { out_.places.unit = unit; }

  /// Sets the place in the original file of everything written from now on.
  void at(int place) { place_ = place; }

  void heading(int level, std::string_view text);
  void paragraph(std::string_view text);
  /// `marker` is "-" or "3."; `depth` counts from 1.
  void list_item(int depth, std::string_view marker, std::string_view text);
  void code(std::string_view text);
  struct Line {
    std::string text;
    int place = 0;
  };
  /// Writes a record of "Key: value" lines, each with its own place. Passages may be cut between its sentences.
  void lines(const std::vector<Line>& lines);
  /// Begins a table. With an empty header, none is repeated.
  void table(std::vector<std::string> header);
  void row(const std::vector<std::string>& cells);

  /// True: the text has reached its limit, and further writes are ignored.
  bool is_full() const { return is_full_; }
  bool empty() const { return out_.text.empty(); }
  void remark(std::string text);
  /// The document's metadata; finish() keeps what is set here.
  chunk::ParsedDocument& document() { return out_; }

  chunk::ParsedDocument finish() &&;

 private:
  bool begin(chunk::BlockKind kind, std::size_t bytes, std::string_view gap);
  void end(chunk::BlockKind kind, std::size_t begin);
  void mark();
  void record(const std::vector<std::string>& cells);

  const std::size_t text_bytes_max_;
  chunk::ParsedDocument out_;
  int place_ = 0;  ///< 0: not set.
  int line_ = 1;   ///< Line in out_.text, from 1.
  bool is_full_ = false;
  std::vector<std::string> header_;
  std::string header_line_;
  std::size_t group_bytes_ = 0;  ///< 0: the next row begins a group.
};

/// The cells of a row on one line.
std::string row_line(const std::vector<std::string>& cells);

}  // namespace footnote::formats
