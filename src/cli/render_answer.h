#pragma once

#include <string>

#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// True when an answer in the form of POST /api/kb/chat is a refusal.
bool is_refusal(const Json& answer);

/// For people: the answer's text with its [n] marks. A refusal says so in its first words.
std::string render_answer_text(const Json& answer, Paint paint);

/// What stands below the text: the sources with title, path:line and the quoted sentences that carry the answer; for
/// a refusal the documents that came nearest. The last line leads to `footnote trace`.
std::string render_answer_sources(const Json& answer, Paint paint);

}  // namespace footnote::cli
