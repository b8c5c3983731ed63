#pragma once

#include <span>
#include <string>
#include <string_view>

namespace footnote::retrieve {

/// The language that a question is written in, ISO 639-1: by its script, or by the small words that every sentence needs.
/// Empty when it does not show: names and codes belong to no language.
std::string_view detect_language(std::string_view text);

/// What vectors and tokens of a question count when its language is none of those that the model was made for (`languages` empty:
/// it knows no bounds). Such a model still sees names, numbers and loan words, but words do most of the finding: of the right
/// passages of German, French, Spanish, Russian and Chinese questions keywords alone rank more first than any mixture with equal parts.
double trust_in_model(std::string_view question, std::span<const std::string> languages);

}  // namespace footnote::retrieve
