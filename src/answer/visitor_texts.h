#pragma once

#include <span>
#include <string>
#include <string_view>

namespace footnote::answer {

/// What a visitor's language is read from, the first that says one: the agent's own, the widget's locale, what the browser accepts, the
/// question.
struct LanguageHints {
  std::string_view agent = {};
  std::string_view locale = {};           ///< "de-AT"
  std::string_view accept_language = {};  ///< "de-AT,de;q=0.9,en;q=0.5"
  std::string_view question = {};
};
/// A code: "de". "en" where nothing shows.
std::string visitor_language(const LanguageHints& hints);

/// Fixed texts of the visitor's door, in the language or in English.
std::string_view unknown_text(std::string_view language);   ///< Nothing was found.
std::string_view declined_text(std::string_view language);  ///< A topic that the agent does not talk about.
/// Languages that these are there in: "en", "de" ...
std::span<const std::string_view> visitor_text_languages();

}  // namespace footnote::answer
