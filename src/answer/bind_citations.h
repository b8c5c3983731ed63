#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "answer/citation_filter.h"
#include "domain/answer.h"

namespace footnote::answer {

/// Binds each marker of a finished answer to the sentence that it backs (the sentence it is in, or the previous one if the marker opens a
/// sentence) and to the sentence of its source that shares the most words with it. Does not decide whether that sentence supports the
/// claim: support stays kUnchecked. Linear in the answer; each sentence is compared with a source once.
std::vector<Citation> bind_citations(std::string_view answer_text, std::span<const Marker> markers, std::span<const SourceBlock> sources);

}  // namespace footnote::answer
