#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "ports/agent_store.h"

namespace footnote::answer {

/// The question to look up, with what restricts the answers.
struct CuratedQuestion {
  std::string_view text;
  std::string_view language = {};  ///< The visitor's language ("de-AT"); empty: unknown, so only answers for any language match.
  std::string_view page_url = {};  ///< As reported by the visitor's browser.
};

/// The curated answers of one agent, indexed for lookup. An answer's pattern is a comma-separated list of phrases; it matches a question
/// that contains one of them as whole words, ignoring case, spacing, accents and punctuation ("refund" is in "A REFUND, please", not in
/// "refundable"). Ties are broken by highest priority, then longest phrase, then lowest id. An answer with a language matches only visitors
/// of that language ("de" also matches "de-AT"); an answer with a page matches only visitors on that page or beneath it. Immutable;
/// thread-safe.
class CuratedMatcher {
 public:
  explicit CuratedMatcher(std::vector<CuratedAnswer> answers);

  /// Null: no match. The result lives as long as this object.
  const CuratedAnswer* match(const CuratedQuestion& question) const;
  std::size_t size() const { return answers_.size(); }

 private:
  struct Phrase {
    std::size_t characters = 0;
    std::vector<std::size_t> answers;  ///< Indexes into `answers_`, best first.
  };
  /// Allows lookup by string_view, without a copy.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  bool applies(std::size_t answer, const CuratedQuestion& question, std::string_view page) const;

  std::vector<CuratedAnswer> answers_;  ///< Enabled answers, best first (ignoring phrase length).
  std::vector<std::string> pages_;      ///< Canonical page of each answer; empty: any.
  std::unordered_map<std::string, Phrase, Hash, std::equal_to<>> phrases_;
  std::vector<std::size_t> word_counts_;  ///< The word counts that occur among the phrases.
};

/// Caches the matchers of the agents asked most recently; an entry is valid until the agent's answers change. Thread-safe.
class CuratedMatchers {
 public:
  /// Bound on cached agents; the least recently asked is evicted.
  static constexpr std::size_t kAgentsKeptMax = 64;

  /// Borrows `agents`.
  explicit CuratedMatchers(const AgentStore& agents) : agents_(agents) {}

  /// Shared, because a lookup in progress may outlive the next change of the answers.
  Result<std::shared_ptr<const CuratedMatcher>> of(const CallContext& call, const AgentId& agent);

 private:
  struct Kept {
    std::int64_t revision = 0;
    std::shared_ptr<const CuratedMatcher> matcher;
    std::uint64_t asked = 0;
  };

  std::shared_ptr<const CuratedMatcher> find(const AgentId& agent, std::int64_t revision);
  void keep(const AgentId& agent, std::int64_t revision, std::shared_ptr<const CuratedMatcher> matcher);

  const AgentStore& agents_;
  Mutex mutex_;
  std::map<AgentId, Kept> kept_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::uint64_t asked_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::answer
