#pragma once

#include <string>
#include <string_view>

namespace footnote::retrieve {

inline constexpr std::size_t kFollowUpNamesMax = 4;      ///< Maximum number of names taken from the assistant's question.
inline constexpr std::size_t kFollowUpCarriedMax = 300;  ///< Maximum characters carried over from the previous turn.
inline constexpr std::size_t kFollowUpShortWords = 3;    ///< A message with at most this many words is a follow-up.

/// The turn before a message.
struct TurnBefore {
  std::string_view question;  ///< The visitor's question.
  std::string_view answer;    ///< The assistant's answer.
};

/// Whether a message is a follow-up that cannot be searched for without its context: it begins with a connective or a pronoun ("and in
/// Norway?"), has at most kFollowUpShortWords words, or answers a question that the assistant asked (unless it is itself a longer
/// question). The limit is low on purpose: with seven words, short but complete questions counted as follow-ups.
bool leans_on_context(std::string_view message, const TurnBefore& before);

/// The text to search for: the message itself, or, for a follow-up, names from the assistant's question, the visitor's previous question
/// without its question word, and the message. The prompt still gets the message as typed.
std::string search_text(std::string_view message, const TurnBefore& before);

}  // namespace footnote::retrieve
