#pragma once

#include <optional>
#include <string_view>

namespace footnote::answer {

/// What a sentence states and its sources do not: reason enough not to believe it, however alike the texts are.
enum class Breach { kNumber, kDate, kName, kNegation };

/// "number", "date", "name", "negation"

/// The first thing of `claim` that occurs nowhere in `evidence`:
///   - a number: 1,240 is 1240, 0.50 is 0.5, "three" is 3, "5 million" is 5000000, or 5 where the evidence
///     leaves its magnitude to a table's head; "one" and list numbers are no numbers
///   - a month beside a number, by its name, its short name or in 2016-08-24
///   - a name: a capitalised word that does not open the sentence, or one in capitals, unless most words are (a headline); "American"
///     is met by "America"
///   - a negation, where the evidence has neither that nor a word such as "only", "fails" or "except"
/// English, and careful: what can't be told is no breach. `claim` is one plain sentence without markers.
std::optional<Breach> first_breach(std::string_view claim, std::string_view evidence);

/// Whether a sentence denies: "not", "no", "never", "without" and the like, also as "n't".
bool denies(std::string_view sentence);

}  // namespace footnote::answer
