#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/answer.h"

namespace footnote {

/// A turn's outcome as it is stored: one JSON text with its sources, citations and every stage's scores, readable
/// for as long as the turn is kept, whatever becomes of the documents.
///   {"kind":"answer","text":...,"confidence":0.8,"model":...,"sources":[...],"citations":[...],"uncited":[[0,20]]}
///   {"kind":"refusal","reason":"no_relevant_context","text":...,"nearest":[...]}
///   {"kind":"clarification","text":...}
/// Numbers come back bit by bit, except that what JSON can't say (NaN, infinity) comes back as 0.
std::string to_stored_text(const Outcome& outcome);

/// kCorrupted when the text is not what to_stored_text() gives.
Result<Outcome> outcome_from_stored_text(std::string_view text);

}  // namespace footnote
