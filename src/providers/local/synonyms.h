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

/// Search synonyms. They are applied to the query, so indexes need not be rebuilt. Thread-safe.
class Synonyms {
 public:
  static constexpr std::size_t kFileBytesMax = 4 << 20;
  static constexpr std::size_t kGroupsMax = 10'000;
  static constexpr std::size_t kGroupWordsMax = 16;
  static constexpr std::size_t kWordBytesMax = 100;

  /// text := line*; line := "# remark" | "[corpus]" | word ("," word)*
  /// The words of a line are synonyms of each other: in all corpora, or after a "[corpus]" line in that corpus only. A word contains no
  /// spaces. kInvalidArgument names the line: a group of fewer than two words, or beyond one of the limits above.
  static Result<Synonyms> parse(std::string_view text);
  Synonyms(Synonyms&& from) noexcept : groups_(std::move(from.groups_)) {}

  std::size_t group_count() const;

  /// Adds the synonyms of each term, with kSynonymWeight times its weight; all share one rarity, so that none counts more than the word
  /// itself. For coverage, a passage with a synonym contains the word. Adds at most up to kQueryTermsMax.
  void expand(std::string_view corpus, const std::vector<std::string>& languages, QueryTerms& terms) const;

 private:
  using Group = std::vector<std::string>;
  /// A term and its synonyms.
  using Table = std::unordered_map<std::string, std::vector<std::string>>;
  struct Key {
    std::string corpus;
    std::string language;
    auto operator<=>(const Key&) const = default;
  };

  Synonyms() = default;
  /// Terms depend on the language: each table is built on first use and cached.
  const Table& table(std::string_view corpus, const std::string& language) const;
  void add_groups(std::string_view corpus, const std::string& language, Table& out) const;

  std::map<std::string, std::vector<Group>, std::less<>> groups_;  // by corpus; "" for all
  mutable Mutex mutex_;
  mutable std::map<Key, Table> tables_ FOOTNOTE_TSA(guarded_by(mutex_));
};

inline constexpr float kSynonymWeight = 0.8F;

}  // namespace footnote
