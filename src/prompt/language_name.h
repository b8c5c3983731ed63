#pragma once

#include <string>
#include <string_view>

namespace footnote::prompt {

/// Maps "de", "de-AT" and "DE_at" to "de"; empty if `tag` is not a language tag.
std::string primary_language(std::string_view tag);

/// A language's English name: "German" for "de". The code itself if the language is not in our list.
std::string language_name(std::string_view code);

}  // namespace footnote::prompt
