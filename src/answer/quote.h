#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/quote_blocks.h"
#include "domain/answer.h"
#include "ports/reader.h"

namespace footnote::answer {

/// A document's sentence as shown in an answer: line breaks become spaces; block marks (list, quote, heading), emphasis marks, link targets
/// and the document's own numeric reference marks are left out. Nothing is added: the rest occurs in the source in that order.
std::string plain_quote(std::string_view source_sentence);

/// An answer made only of quotes, with citations that bind each quote to its characters in the source.
struct QuotedAnswer {
  std::vector<std::string> pieces;  ///< One per quote, for streaming; joined they are the text.
  std::vector<Citation> citations;
};

/// Groups the spans of each passage in text order, at the position of the passage's best span.
Reading in_reading_order(Reading reading);

/// Drops spans whose shown text is empty or repeats an earlier one. `passages[i]` of the reading is `sources[i]`.
Reading told_once(const Reading& reading, std::span<const SourceBlock> sources);

/// The headings of a passage as shown to readers: "Heading > Heading"; its title if it has no headings. (A page's title often repeats its
/// first heading.)
std::string header_of(const Hit& hit);

/// The parts of a passage that can be quoted on their own.
std::vector<chunk::QuoteBlock> quotable_blocks(const Hit& hit);

/// The reader's spans in order, each a paragraph or more of its own with its `[n]`; repeated texts appear once. A quote that does not name
/// its section begins with the section's heading. Words that answer are emphasised; words that answer on their own also come first, as a
/// separate paragraph. `passages[i]` of the reading is `sources[i]`.
QuotedAnswer compose_quotes(const Reading& reading, std::span<const SourceBlock> sources);

}  // namespace footnote::answer
