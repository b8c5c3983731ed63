#pragma once

#include <string>
#include <string_view>

namespace footnote::retrieve {

inline constexpr std::size_t kFollowUpNamesMax = 4;      ///< Names taken from the assistant's question.
inline constexpr std::size_t kFollowUpCarriedMax = 300;  ///< Characters carried over from the previous turn.
inline constexpr std::size_t kFollowUpShortWords = 3;    ///< A message with at most this many words is a follow-up.

/// The turn before a message.
struct TurnBefore {
  std::string_view question;  ///< The visitor's.
  std::string_view answer;    ///< The assistant's.
};

/// Whether a message is a follow-up that cannot be searched for without its context: it begins with a connective or a pronoun ("and in
/// Norway?"), has at most kFollowUpShortWords words, or answers a question that the assistant asked (unless it is itself a longer
/// question). Short but complete questions are not follow-ups: a limit of seven words, tried elsewhere, broke those.
bool leans_on_context(std::string_view message, const TurnBefore& before);

/// The text to search for: the message itself, or, for a follow-up, names from the assistant's question, the visitor's previous question
/// without its question word, and the message. The prompt still gets the message as typed.
std::string search_text(std::string_view message, const TurnBefore& before);

}  // namespace footnote::retrieve
