#pragma once

#include <string>

#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// True if an answer in the format of POST /api/kb/chat is a refusal.
bool is_refusal(const Json& answer);

/// For people: the answer's text with its [n] marks. A refusal starts by saying so.
std::string render_answer_text(const Json& answer, Paint paint);

/// The part below the text: the sources with title, path:line and the quoted sentences that support the answer; for a refusal the closest
/// documents. The last line points to `footnote trace`.
std::string render_answer_sources(const Json& answer, Paint paint);

}  // namespace footnote::cli
