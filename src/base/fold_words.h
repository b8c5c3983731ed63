#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// The words of a text as people compare them: letters and digits alone, without case, accents and compatibility forms, one space
/// between. "Ou est  le CAFÉ?" is "ou est le cafe". In scripts that write no spaces (Chinese, Japanese, Thai ...) each character is a
/// word of its own. Malformed UTF-8 separates words.
std::string fold_words(std::string_view text);

}  // namespace footnote
