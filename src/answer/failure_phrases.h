#pragma once

#include <span>
#include <string_view>

namespace footnote::answer {

/// Whether an answer says in its own words that it does not know ("I'm not sure", "I couldn't find ..."): its question is a gap. Words
/// that it quotes from a source are the source's: a sentence, or a part in quotation marks, that stands in one of `cited` does not count.
/// `language` is the answer's ("de-AT"); English and that language are looked at, all that there are when it is empty or unknown.
/// REQUIRES: well-formed UTF-8.
bool holds_failure_phrase(std::string_view answer, std::string_view language, std::span<const std::string_view> cited);

/// Languages with phrases of their own: "en", "de" ...
std::span<const std::string_view> failure_phrase_languages();

}  // namespace footnote::answer
