#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// RFC 4648 with padding, without line breaks. Appends to `out`, so that a long text is built in one buffer.
void append_base64(std::string& out, std::string_view bytes);

/// Decodes what append_base64() writes; the padding may be missing. kInvalidArgument for any other character or a truncated text.
Result<std::string> decode_base64(std::string_view text);

}  // namespace footnote
