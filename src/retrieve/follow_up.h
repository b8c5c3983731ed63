#pragma once

#include <string>
#include <string_view>

namespace footnote::retrieve {

inline constexpr std::size_t kFollowUpNamesMax = 4;      ///< Taken from the assistant's question.
inline constexpr std::size_t kFollowUpCarriedMax = 300;  ///< Characters of the turn before.
inline constexpr std::size_t kFollowUpShortWords = 3;    ///< So few words lean on what was said before.

/// The last turn before a message.
struct TurnBefore {
  std::string_view question;  ///< The visitor's.
  std::string_view answer;    ///< The assistant's.
};

/// Whether a message can't be searched for without what was said before it: it begins with a connective or a pronoun ("and in Norway?"),
/// has at most kFollowUpShortWords words, or answers a question that the assistant asked (unless it is a question of its own of more words
/// than that). A short full question stands by itself: counting words up to seven was tried elsewhere and broke those.
bool leans_on_context(std::string_view message, const TurnBefore& before);

/// What to search for: the message itself, or, where it leans on the turn before, names out of the assistant's question, the visitor's
/// question before without its question word, and the message. The prompt still gets the message as it was typed.
std::string search_text(std::string_view message, const TurnBefore& before);

}  // namespace footnote::retrieve
