#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// RFC 4648 with padding, without line breaks. Appends, so that a long text is made in one place.
void append_base64(std::string& out, std::string_view bytes);

/// The bytes of a text as append_base64 writes it; padding may be left out. kInvalidArgument for any other character or a cut-off text.
Result<std::string> decode_base64(std::string_view text);

}  // namespace footnote
