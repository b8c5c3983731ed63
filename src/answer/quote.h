#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/answer.h"
#include "ports/reader.h"

namespace footnote::answer {

/// A sentence of a document as it reads in an answer: line breaks become spaces; block marks (list, quote,
/// heading), emphasis marks, link targets and the document's own numeric reference marks are left out. Nothing is
/// added: what remains stands in the source in that order.
std::string plain_quote(std::string_view source_sentence);

/// An answer made of quotes alone, and the citations that bind each to its characters.
struct QuotedAnswer {
  std::vector<std::string> pieces;  ///< Joined they are the text; one per quote, for streaming.
  std::vector<Citation> citations;
};

/// The spans of a passage in the order of its text, where its best one stood.
Reading in_reading_order(Reading reading);

/// A reading without the spans that read as nothing or as one before them. `passages[i]` of the reading is `sources[i]`.
Reading told_once(const Reading& reading, std::span<const SourceBlock> sources);

/// Puts the reader's spans one after the other, each with its `[n]`, in the order that they come in; spans that read the same are told
/// once. Words that answer by themselves come before all of them, as a paragraph of their own. `passages[i]` of the reading
/// is `sources[i]`.
QuotedAnswer compose_quotes(const Reading& reading, std::span<const SourceBlock> sources);

}  // namespace footnote::answer
