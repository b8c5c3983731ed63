#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// Unicode NFKC: full-width letters, ligatures, circled digits and the like become plain characters. Malformed UTF-8 becomes U+FFFD.
std::string to_nfkc(std::string_view text);

}  // namespace footnote
