#pragma once

#include <string_view>

#include "domain/ids.h"

namespace footnote::api {

/// Converts byte offsets of one text to the code point offsets that clients get. Ranges may come in any order; in ascending order the text
/// is scanned once. Borrows the text.
class CodePointOffsets {
 public:
  explicit CodePointOffsets(std::string_view text) : text_(text) {}
  std::size_t at(std::size_t byte_offset);
  TextRange range(const TextRange& bytes) { return {at(bytes.begin), at(bytes.end)}; }

 private:
  std::string_view text_;
  std::size_t bytes_ = 0;
  std::size_t code_points_ = 0;
};

}  // namespace footnote::api
