#pragma once

#include <span>
#include <string>
#include <string_view>

#include "domain/retrieval.h"

namespace footnote::retrieve {

/// The language of a question (ISO 639-1), detected by its script or its function words. Empty if it cannot be detected: names and codes
/// belong to no language.
std::string_view detect_language(std::string_view text);

/// The question's language if it is not among `languages`, those the model supports (empty: all). Otherwise empty.
std::string_view foreign_language(std::string_view question, std::span<const std::string> languages);

/// The language of these passages, detected in the first few; empty if it cannot be detected.
std::string_view language_of(std::span<const Hit> hits);

/// Weight factor for vectors, tokens and the judge if the question is in a foreign language. The model still sees names, numbers and loan
/// words, but keywords matter most: for German, French, Spanish, Russian and Chinese questions, keywords alone rank the right passage first
/// more often than any mixture with equal weights.
inline constexpr double kForeignTrust = 0.2;

}  // namespace footnote::retrieve
