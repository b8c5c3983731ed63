#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/answer.h"

namespace footnote {

/// A turn's outcome as stored: JSON text with its sources, citations and every stage's scores, readable as long as the turn is kept, even
/// after the documents are gone.
///   {"kind":"answer","text":...,"confidence":0.8,"model":...,"sources":[...],"citations":[...],"uncited":[[0,20]]}
///   {"kind":"refusal","reason":"no_relevant_context","text":...,"nearest":[...]}
///   {"kind":"clarification","text":...}
/// Numbers round-trip exactly, except that NaN and infinity, which JSON cannot represent, become 0.
std::string to_stored_text(const Outcome& outcome);

/// kCorrupted if the text was not made by to_stored_text().
Result<Outcome> outcome_from_stored_text(std::string_view text);

}  // namespace footnote
