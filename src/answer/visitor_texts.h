#pragma once

#include <span>
#include <string>
#include <string_view>

namespace footnote::answer {

/// Where a visitor's language is read from, in order of priority: the agent's setting, the widget's locale, the browser's Accept-Language,
/// the question.
struct LanguageHints {
  std::string_view agent = {};
  std::string_view locale = {};           ///< "de-AT"
  std::string_view accept_language = {};  ///< "de-AT,de;q=0.9,en;q=0.5"
  std::string_view question = {};
};
/// A language code such as "de"; "en" if it cannot be determined.
std::string visitor_language(const LanguageHints& hints);

/// Fixed texts for visitors, in their language or in English.
std::string_view unknown_text(std::string_view language);   ///< Text for "nothing was found".
std::string_view declined_text(std::string_view language);  ///< Text for "the agent avoids this topic".
/// Languages that have these texts: "en", "de" ...
std::span<const std::string_view> visitor_text_languages();

}  // namespace footnote::answer
