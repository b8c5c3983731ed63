#pragma once

#include <span>
#include <string_view>

namespace footnote::answer {

/// Whether an answer says in its own words that it does not know ("I'm not sure", "I couldn't find ..."), which makes its question a gap.
/// Quoted words do not count: a sentence, or a part in quotation marks, that occurs in one of `cited` is ignored. `language` is the
/// answer's ("de-AT"): phrases of English and of that language are tried, or those of all languages if it is empty or unknown. REQUIRES:
/// well-formed UTF-8.
bool holds_failure_phrase(std::string_view answer, std::string_view language, std::span<const std::string_view> cited);

/// Languages that have a phrase list: "en", "de" ...
std::span<const std::string_view> failure_phrase_languages();

}  // namespace footnote::answer
