#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// RFC 4648 with padding, without line breaks. Appends, so that a long text is made in one place.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace footnote
