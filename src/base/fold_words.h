#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// Normalises a text for comparing words: letters and digits only, without case, accents or compatibility forms, separated by single
/// spaces. "Ou est  le CAFÉ?" becomes "ou est le cafe". In scripts without spaces (Chinese, Japanese, Thai ...) each character is a word.
/// Malformed UTF-8 separates words.
std::string fold_words(std::string_view text);

}  // namespace footnote
