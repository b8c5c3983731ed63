#pragma once

#include <string>
#include <string_view>

#include "domain/answer.h"

namespace footnote::prompt {

/// The text of a refusal when the documents hold no answer. `foreign_language`: the question's language (ISO 639-1) if the embedder does
/// not support it; the text then says so, and what to do.
std::string no_context_text(std::string_view foreign_language = {});

/// Said behind a language model's text that is withdrawn; quotations or a refusal follow.
std::string_view withdrawn_text();
/// The text of a knowledge-base refusal in `language`, else in English, and what would help. `foreign_language`: as above.
std::string kb_refusal_text(RefusalReason reason, std::string_view language, std::string_view foreign_language = {});
std::string_view kb_refusal_hint(std::string_view language);
/// Said behind an answer that rests on weakly backed sources alone.
std::string_view tentative_text(std::string_view language);

/// The text of a refusal because the question's language (ISO 639-1) is not that of the documents: in that language, else in English.
std::string_view language_not_covered_text(std::string_view language);

}  // namespace footnote::prompt
