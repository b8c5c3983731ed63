#pragma once

#include <span>
#include <string>
#include <string_view>

namespace footnote::retrieve {

/// The language that a question is written in, ISO 639-1: by its script, or by the small words that every sentence needs.
/// Empty when it does not show: names and codes belong to no language.
std::string_view detect_language(std::string_view text);

/// The question's language, if it is none of `languages`, those that a model was made for (empty: it knows no bounds). Otherwise empty.
std::string_view foreign_language(std::string_view question, std::span<const std::string> languages);

/// What vectors, tokens and the judge count for a question in a foreign language. The model still sees names, numbers and loan words, but
/// words do most of the finding: of the right passages of German, French, Spanish, Russian and Chinese questions keywords alone rank more
/// first than any mixture with equal parts.
inline constexpr double kForeignTrust = 0.2;

}  // namespace footnote::retrieve
