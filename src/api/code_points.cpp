#include "api/code_points.h"

#include <algorithm>

#include "base/utf8.h"

namespace footnote::api {

std::size_t CodePointOffsets::at(std::size_t byte_offset) {
  byte_offset = std::min(byte_offset, text_.size());
  if (byte_offset < bytes_) bytes_ = code_points_ = 0;
  code_points_ += count_code_points(text_.substr(bytes_, byte_offset - bytes_));
  bytes_ = byte_offset;
  return code_points_;
}

}  // namespace footnote::api
