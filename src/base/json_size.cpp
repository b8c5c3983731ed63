#include "base/json_size.h"

namespace footnote {

void JsonSize::feed(std::string_view piece) {
  bytes_ += piece.size();
  for (const char c : piece) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {  // Backslashes occur only in strings.
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = !in_string_;
    } else if (!in_string_) {
      values_ += c == ',' || c == '[' || c == '{';
      members_ += c == ':';
    }
    if (!started_ && c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      started_ = true;
      is_json_ = c == '{' || c == '[';
    }
  }
}

}  // namespace footnote
