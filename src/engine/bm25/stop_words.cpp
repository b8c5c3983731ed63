#include "engine/bm25/stop_words.h"

#include <algorithm>
#include <array>

namespace footnote::bm25 {
namespace {

using namespace std::string_view_literals;

constexpr std::array kStopWords = {
    "a"sv,   "an"sv,    "and"sv,  "are"sv,   "as"sv,    "at"sv,   "be"sv,   "but"sv, "by"sv,  "for"sv,  "if"sv,
    "in"sv,  "into"sv,  "is"sv,   "it"sv,    "no"sv,    "not"sv,  "of"sv,   "on"sv,  "or"sv,  "such"sv, "that"sv,
    "the"sv, "their"sv, "then"sv, "there"sv, "these"sv, "they"sv, "this"sv, "to"sv,  "was"sv, "will"sv, "with"sv,
};
static_assert(kStopWords.size() == 33);

constexpr std::array kFunctionWords = {
    "about"sv,   "after"sv,      "again"sv,   "all"sv,     "also"sv,  "am"sv,      "any"sv,      "arent"sv,     "because"sv, "been"sv,
    "before"sv,  "being"sv,      "between"sv, "both"sv,    "can"sv,   "cannot"sv,  "cant"sv,     "could"sv,     "couldnt"sv, "did"sv,
    "didnt"sv,   "do"sv,         "does"sv,    "doesnt"sv,  "doing"sv, "dont"sv,    "during"sv,   "each"sv,      "eg"sv,      "either"sv,
    "every"sv,   "few"sv,        "from"sv,    "further"sv, "had"sv,   "hadnt"sv,   "has"sv,      "hasnt"sv,     "have"sv,    "havent"sv,
    "having"sv,  "he"sv,         "her"sv,     "here"sv,    "hers"sv,  "herself"sv, "him"sv,      "himself"sv,   "his"sv,     "how"sv,
    "however"sv, "i"sv,          "ie"sv,      "im"sv,      "isnt"sv,  "its"sv,     "itself"sv,   "ive"sv,       "just"sv,    "may"sv,
    "me"sv,      "might"sv,      "more"sv,    "most"sv,    "much"sv,  "must"sv,    "my"sv,       "myself"sv,    "neither"sv, "nor"sv,
    "now"sv,     "off"sv,        "once"sv,    "only"sv,    "other"sv, "our"sv,     "ours"sv,     "ourselves"sv, "out"sv,     "over"sv,
    "own"sv,     "please"sv,     "same"sv,    "shall"sv,   "she"sv,   "should"sv,  "shouldnt"sv, "so"sv,        "some"sv,    "than"sv,
    "them"sv,    "themselves"sv, "those"sv,   "through"sv, "too"sv,   "under"sv,   "until"sv,    "up"sv,        "upon"sv,    "very"sv,
    "wasnt"sv,   "we"sv,         "were"sv,    "werent"sv,  "what"sv,  "whats"sv,   "when"sv,     "where"sv,     "whether"sv, "which"sv,
    "while"sv,   "who"sv,        "whom"sv,    "whose"sv,   "why"sv,   "wont"sv,    "would"sv,    "wouldnt"sv,   "you"sv,     "your"sv,
    "yours"sv,   "yourself"sv,
};

// Looked up for every word of every text: a hash table built at compile time, with short probe sequences.
class RoleTable {
 public:
  constexpr RoleTable() {
    for (const std::string_view word : kStopWords) insert(word, WordRole::kStop);
    for (const std::string_view word : kFunctionWords) insert(word, WordRole::kFunction);
  }

  constexpr WordRole find(std::string_view word) const {
    if (word.empty() || word.size() > kWordBytesMax) return WordRole::kContent;
    for (std::size_t at = slot_of(word); !slots_[at].word.empty(); at = (at + 1) % kSlots) {
      if (slots_[at].word == word) return slots_[at].role;
    }
    return WordRole::kContent;
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kWordBytesMax = 10;
  struct Slot {
    std::string_view word;
    WordRole role = WordRole::kContent;
  };

  static constexpr std::size_t slot_of(std::string_view word) {
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(word[i])); };
    const std::size_t last = word.size() - 1;
    return (byte(0) * 131 + byte(last / 2) * 31 + byte(last) * 7 + word.size() * 257) % kSlots;
  }
  constexpr void insert(std::string_view word, WordRole role) {
    std::size_t at = slot_of(word);
    while (!slots_[at].word.empty()) at = (at + 1) % kSlots;
    slots_[at] = {word, role};
  }

  std::array<Slot, kSlots> slots_{};
};
constexpr RoleTable kRoles;
static_assert(std::all_of(kFunctionWords.begin(), kFunctionWords.end(),
                          [](std::string_view word) { return kRoles.find(word) == WordRole::kFunction; }));
static_assert(std::all_of(kStopWords.begin(), kStopWords.end(),
                          [](std::string_view word) { return kRoles.find(word) == WordRole::kStop; }));

}  // namespace

WordRole role_of(std::string_view word) { return kRoles.find(word); }

}  // namespace footnote::bm25
