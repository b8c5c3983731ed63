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

/// What curated answers are looked up for.
struct CuratedQuestion {
  std::string_view text;
  std::string_view language = {};  ///< The visitor's: "de-AT"; empty: not known, so that only answers for any language are.
  std::string_view page_url = {};  ///< As the visitor's browser has it.
};

/// The curated answers of one agent, prepared for questions. An answer's pattern is a list of phrases with commas between; it matches a
/// question that holds one of them as whole words, whatever the case, spacing, accents and punctuation of either ("refund" is in
/// "A REFUND, please", not in "refundable"). Of several the one of the highest priority is taken, then that of the longest phrase, then
/// that of the lowest id. One with a language is for visitors of it ("de" is for "de-AT" too), one with a page for those on it or beneath.
/// Never changes; thread-safe.
class CuratedMatcher {
 public:
  explicit CuratedMatcher(std::vector<CuratedAnswer> answers);

  /// Null: none. Lives as long as this.
  const CuratedAnswer* match(const CuratedQuestion& question) const;
  std::size_t size() const { return answers_.size(); }

 private:
  struct Phrase {
    std::size_t characters = 0;
    std::vector<std::size_t> answers;  ///< Places in `answers_`, the best first.
  };
  /// Texts are looked up by a part of the question, without a copy.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  bool applies(std::size_t answer, const CuratedQuestion& question, std::string_view page) const;

  std::vector<CuratedAnswer> answers_;  ///< Those that are enabled; the best first, phrases apart.
  std::vector<std::string> pages_;      ///< Of each, canonical; empty: any.
  std::unordered_map<std::string, Phrase, Hash, std::equal_to<>> phrases_;
  std::vector<std::size_t> word_counts_;  ///< That phrases have.
};

/// Matchers of the agents that were asked last, each as long as its answers do not change. Thread-safe.
class CuratedMatchers {
 public:
  /// Agents whose answers are kept; past it the one that was asked longest ago goes.
  static constexpr std::size_t kAgentsKeptMax = 64;

  /// Borrowed.
  explicit CuratedMatchers(const AgentStore& agents) : agents_(agents) {}

  /// Shared, because a question that is being looked at outlives the next change of the answers.
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
