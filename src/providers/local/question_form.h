#pragma once

#include <string_view>

namespace footnote {

/// Whether a few words can answer the question: it asks for a name, a number, a time or a place.
bool asks_for_words(std::string_view question);

}  // namespace footnote
