#pragma once

#include <optional>
#include <string_view>

namespace footnote::answer {

/// A fact that a sentence states and its sources lack. It makes the sentence unsupported, however similar the texts are.
enum class Breach { kNumber, kDate, kName, kNegation };

/// The first fact of `claim` that is missing from `evidence`:
///   - a number: 1,240 is 1240, 0.50 is 0.5, "three" is 3, "5 million" is 5000000, or 5 if the evidence
///     leaves the magnitude to a table's head; "one" and list numbers do not count
///   - a month next to a number, by its name, its short name or in 2016-08-24
///   - a name: a capitalised word that does not open the sentence, or one in capitals, unless most words are (a headline); "America"
///     in the evidence matches "American"
///   - a negation, if the evidence has neither a negation nor a word such as "only", "fails" or "except"
/// English only, and lenient: doubtful cases are no breach. `claim` is one plain sentence without markers.
std::optional<Breach> first_breach(std::string_view claim, std::string_view evidence);

/// Whether a sentence denies: "not", "no", "never", "without" and the like, also as "n't".
bool denies(std::string_view sentence);

}  // namespace footnote::answer
