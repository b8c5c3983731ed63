#pragma once

#include <string>
#include <string_view>

namespace footnote::html {

/// A copy of the page that the parser can take in linear time: malformed UTF-8 and NUL become U+FFFD, and a tag's
/// attributes past kAttributesMax become spaces. Contents of scripts, styles and comments are left alone.
std::string guarded_copy(std::string_view html);

}  // namespace footnote::html
