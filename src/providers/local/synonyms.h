#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "providers/local/query_terms.h"

namespace footnote {

/// Words that stand for each other when somebody searches. They are looked up in the question, so no index is made anew for them.
/// Thread-safe.
class Synonyms {
 public:
  static constexpr std::size_t kFileBytesMax = 4 << 20;
  static constexpr std::size_t kGroupsMax = 10'000;
  static constexpr std::size_t kGroupWordsMax = 16;
  static constexpr std::size_t kWordBytesMax = 100;

  /// text := line*; line := "# remark" | "[corpus]" | word ("," word)*
  /// The words of a line stand for each other: in all corpora, or after a corpus's name in that one alone. A word has no spaces inside.
  /// kInvalidArgument names the line: a group of fewer than two words, or one of the bounds above.
  static Result<Synonyms> parse(std::string_view text);
  Synonyms(Synonyms&& from) noexcept : groups_(std::move(from.groups_)) {}

  std::size_t group_count() const;

  /// Adds to each term the terms of its synonyms: each weighs kSynonymWeight of it, and all share one rarity, so that none is worth more
  /// than the word itself. A passage with one of them holds the word (coverage). Within kQueryTermsMax.
  void expand(std::string_view corpus, const std::vector<std::string>& languages, QueryTerms& terms) const;

 private:
  using Group = std::vector<std::string>;
  /// A term and those that may stand for it.
  using Table = std::unordered_map<std::string, std::vector<std::string>>;
  struct Key {
    std::string corpus;
    std::string language;
    auto operator<=>(const Key&) const = default;
  };

  Synonyms() = default;
  /// Terms depend on the language: each table is made when it is first asked for, and kept.
  const Table& table(std::string_view corpus, const std::string& language) const;
  void add_groups(std::string_view corpus, const std::string& language, Table& out) const;

  std::map<std::string, std::vector<Group>, std::less<>> groups_;  // By corpus; "" for all.
  mutable Mutex mutex_;
  mutable std::map<Key, Table> tables_ FOOTNOTE_TSA(guarded_by(mutex_));
};

inline constexpr float kSynonymWeight = 0.8F;

}  // namespace footnote
