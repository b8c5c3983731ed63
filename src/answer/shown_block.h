#pragma once

#include <string>
#include <string_view>

#include "chunk/quote_blocks.h"

namespace footnote::answer {

/// A block of a document as an answer shows it, in Markdown: prose as one paragraph, lists as lists, code in a fence, a table or a row with
/// its header as a table. Emphasis, link targets and the document's own reference marks are left out; no words are added.
std::string shown_block(std::string_view text, const chunk::QuoteBlock& block);

}  // namespace footnote::answer
