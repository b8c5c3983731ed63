#pragma once

#include <string>
#include <string_view>

namespace footnote::prompt {

/// What a refusal says when the documents hold no answer. `foreign_language`: that of the question (ISO 639-1), if the embedder was not
/// made for it; then the text says so, and what to do.
std::string no_context_text(std::string_view foreign_language = {});

}  // namespace footnote::prompt
