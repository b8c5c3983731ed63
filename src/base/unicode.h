#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// Compatibility form (NFKC): full-width letters, ligatures, circled digits and the like become the plain ones. Malformed UTF-8
/// becomes U+FFFD.
std::string to_nfkc(std::string_view text);

}  // namespace footnote
