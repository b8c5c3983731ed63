#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace footnote::retrieve {

/// The content words of a text: lower-cased, without English function words and single letters, with plural and possessive endings cut.
/// Good enough to compare a question with a heading or a sentence; the keyword index does the real analysis.
std::vector<std::string> content_words(std::string_view text);

/// The share of `wanted` that occurs in `found`, 0..1; 0 if `wanted` is empty.
double share_of(const std::vector<std::string>& wanted, const std::vector<std::string>& found);

}  // namespace footnote::retrieve
