#pragma once

#include <string>
#include <string_view>

namespace footnote::html {

/// A copy of the page that the parser handles in linear time: malformed UTF-8 and NUL become U+FFFD, and a tag's attributes beyond
/// kAttributesMax become spaces. Contents of scripts, styles and comments stay unchanged.
std::string guarded_copy(std::string_view html);

}  // namespace footnote::html
