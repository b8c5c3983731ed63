#pragma once

#include <string>
#include <string_view>

namespace footnote::prompt {

/// "de", "de-AT" and "DE_at" are "de"; empty for what is no language tag.
std::string primary_language(std::string_view tag);

/// A language's English name: "German" for "de". The code itself where it is not among those that are known by name.
std::string language_name(std::string_view code);

}  // namespace footnote::prompt
