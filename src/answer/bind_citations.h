#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "answer/citation_filter.h"
#include "domain/answer.h"

namespace footnote::answer {

/// Binds each marker of a finished answer to the sentence that it backs (the one that it stands in, or the one
/// before when it opens a sentence) and to the sentence of its source that shares most words with it. Whether that
/// sentence carries the claim is not decided here: support stays kUnchecked.
std::vector<Citation> bind_citations(std::string_view answer_text, std::span<const Marker> markers, std::span<const SourceBlock> sources);

}  // namespace footnote::answer
