#pragma once

#include <vector>

#include "domain/answer.h"
#include "ports/reader.h"

namespace footnote::answer {

/// A joined quote is at most this long.
inline constexpr std::size_t kJoinedBytesMax = 1'600;
/// An answer has at most so many quotes.
inline constexpr std::size_t kQuotesMax = 3;

/// Quotes that overlap or touch in their document become one, at the place of the better one: a list that was cut into two passages is
/// whole again, and nothing is told twice. The better one's block then holds the text of both passages. Keeps the best kQuotesMax.
/// `passages[i]` of the reading is `blocks[i]`; spans are best first, one a passage.
Reading join_quotes(Reading reading, std::vector<SourceBlock>& blocks);

}  // namespace footnote::answer
