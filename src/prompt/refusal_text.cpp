#include "prompt/refusal_text.h"

#include <fmt/format.h>

#include "prompt/language_name.h"

namespace footnote::prompt {

std::string no_context_text(std::string_view foreign_language) {
  constexpr std::string_view kText = "I could not find an answer to this in the documents.";
  if (foreign_language.empty()) return std::string(kText);
  return fmt::format(
      "{} The question is in {}, a language that the search model does not know: only passages that share its words can be found. Ask in "
      "the language of the documents, or install a multilingual model.",
      kText, language_name(foreign_language));
}

}  // namespace footnote::prompt
