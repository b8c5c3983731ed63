#pragma once

#include <string_view>

#include "base/call_context.h"
#include "code/code_file.h"

namespace footnote::code {

/// Units of Markdown: one per H1, H2 or H3 section, short ones joined, long ones cut between paragraphs with an overlap. A known bug and a
/// decision keep sections of their own. The names in `code` of a section are its mentions. Errors of the call.
Result<void> add_prose_units(std::string_view path, SourceType type, CodeFile& out, const CallContext& call);

}  // namespace footnote::code
