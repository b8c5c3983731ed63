#include <algorithm>

#include "base/fold_words.h"
#include "base/text.h"
#include "fakes/memory_store.h"

namespace footnote::fakes {

namespace {

std::string gap_key(std::string_view question) {
  const std::string folded = fold_words(question);
  return folded.empty() ? fold_spaces(question) : folded;
}

std::string day_of(UtcTime time) { return to_rfc3339(time).substr(0, 10); }

}  // namespace

void MemoryStore::count_visit(const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  const Visit& visit = *turn.visit;
  AgentUsageDay& day = agent_usage_[{turn.workspace, visit.agent, day_of(turn.asked_at)}];
  day.day = day_of(turn.asked_at);
  ++day.turns;
  if (visit.curated) ++day.curated;
  if (std::holds_alternative<Refusal>(turn.outcome)) ++day.refused;
  day.prompt_tokens += prompt_tokens;
  day.completion_tokens += completion_tokens;
}

Result<void> MemoryStore::finish_visit(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens,
                                       std::int64_t completion_tokens) {
  const Visit& visit = *turn.visit;
  count_visit(turn, prompt_tokens, completion_tokens);
  if (visit.gap) FOOTNOTE_CHECK(roll_up_visit(call, turn, *visit.gap, turn.asked_at));
  return tell(call, {turn.workspace, std::string(kTurnCompleted), turn.id.value, turn.asked_at});
}

Result<void> MemoryStore::tell(const CallContext& call, const WebhookNews& news) {
  return webhooks_ == nullptr ? Result<void>{} : webhooks_->enqueue(call, news);
}

Result<void> MemoryStore::roll_up_visit(const CallContext& call, const Turn& turn, GapReason reason, UtcTime at) {
  auto [entry, fresh] = agent_gaps_.try_emplace({turn.workspace, turn.visit->agent, gap_key(turn.question)});
  AgentGap& gap = entry->second;
  const bool opened = fresh || gap.status == GapStatus::kAnswered;
  if (fresh) gap = {{next_id()}, turn.workspace, turn.visit->agent, turn.question, reason, GapStatus::kOpen, 0, at, at};
  if (opened) gap.status = GapStatus::kOpen;
  ++gap.occurrences;
  gap.reason = reason;
  gap.last_seen_at = std::max(gap.last_seen_at, at);
  gap_of_turn_[turn.id] = gap.id;
  return opened ? tell(call, {turn.workspace, std::string(kGapOpened), std::to_string(gap.id.value), at}) : Result<void>{};
}

Result<void> MemoryStore::rate_turn(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor, const TurnId& id,
                                    const Feedback& feedback) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_feedback(feedback));
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(turns_, id, &Turn::id);
  if (found == turns_.end() || found->workspace != workspace || !found->visit || found->visit->visitor != visitor) {
    return fail(ErrorCode::kNotFound, "there is no turn '{}'", id.value);
  }
  found->visit->feedback = feedback;
  if (feedback.rating == Rating::kUp || found->visit->playground || gap_of_turn_.contains(id)) return {};
  return roll_up_visit(call, *found, GapReason::kDownVote, clock_.now());
}

Result<std::vector<AgentGap>> MemoryStore::agent_gaps(const CallContext&, WorkspaceId workspace, const AgentId& agent,
                                                      std::optional<GapStatus> status, std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<AgentGap> out;
  for (const auto& [key, gap] : agent_gaps_) {
    if (gap.workspace == workspace && gap.agent == agent && (!status || gap.status == *status)) out.push_back(gap);
  }
  std::ranges::sort(out, [](const AgentGap& a, const AgentGap& b) {
    if (a.occurrences != b.occurrences) return a.occurrences > b.occurrences;
    return a.last_seen_at != b.last_seen_at ? a.last_seen_at > b.last_seen_at : a.id < b.id;
  });
  out.resize(std::min(out.size(), limit));
  return out;
}

Result<AgentGap> MemoryStore::agent_gap(const CallContext&, WorkspaceId workspace, GapId id) const {
  MutexLock lock(mutex_);
  for (const auto& [key, gap] : agent_gaps_) {
    if (gap.id == id && gap.workspace == workspace) return gap;
  }
  return fail(ErrorCode::kNotFound, "there is no gap {}", id.value);
}

Result<AgentGap> MemoryStore::set_gap_status(const CallContext& call, WorkspaceId workspace, GapId id, GapStatus status) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  for (auto& [key, gap] : agent_gaps_) {
    if (gap.id != id || gap.workspace != workspace) continue;
    gap.status = status;
    return gap;
  }
  return fail(ErrorCode::kNotFound, "there is no gap {}", id.value);
}

Result<std::vector<AgentUsageDay>> MemoryStore::agent_usage(const CallContext&, WorkspaceId workspace, const AgentId& agent,
                                                            std::size_t days) const {
  MutexLock lock(mutex_);
  const std::string first = days == 0 ? "9999" : day_of(clock_.now() - std::chrono::days{static_cast<int>(days) - 1});
  std::vector<AgentUsageDay> out;
  for (const auto& [key, day] : agent_usage_) {
    if (std::get<0>(key) == workspace && std::get<1>(key) == agent && std::get<2>(key) >= first) out.push_back(day);
  }
  return out;
}

Result<std::vector<Turn>> MemoryStore::visitor_turns(const CallContext&, WorkspaceId workspace, const VisitorId& visitor) const {
  MutexLock lock(mutex_);
  std::vector<Turn> out;
  std::ranges::copy_if(turns_, std::back_inserter(out),
                       [&](const Turn& turn) { return turn.workspace == workspace && turn.visit && turn.visit->visitor == visitor; });
  return out;
}

void MemoryStore::erase(const std::vector<TurnId>& ids) {
  for (const TurnId& id : ids) {
    const auto turn = std::ranges::find(turns_, id, &Turn::id);
    traces_.erase({turn->workspace, id});
    turns_.erase(turn);
    const auto gap = gap_of_turn_.extract(id);
    if (gap.empty()) continue;
    const auto entry = std::ranges::find_if(agent_gaps_, [&](const auto& other) { return other.second.id == gap.mapped(); });
    if (entry == agent_gaps_.end()) continue;
    const Turn* heir = nullptr;  // the oldest remaining turn
    for (const Turn& other : turns_) {
      const auto found = gap_of_turn_.find(other.id);
      if (heir == nullptr && found != gap_of_turn_.end() && found->second == gap.mapped()) heir = &other;
    }
    if (heir == nullptr) {
      agent_gaps_.erase(entry);
    } else {
      entry->second.question = heir->question;
    }
  }
}

Result<std::size_t> MemoryStore::erase_visitor(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto turns, visitor_turns(call, workspace, visitor));
  std::vector<TurnId> ids;
  std::ranges::transform(turns, std::back_inserter(ids), &Turn::id);
  MutexLock lock(mutex_);
  erasures_[{workspace, visitor}] = clock_.now();
  erase(ids);
  return ids.size();
}

Result<std::size_t> MemoryStore::erase_turns(const CallContext& call, WorkspaceId workspace, const AgentId& agent, UtcTime before,
                                             std::size_t limit) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  std::vector<const Turn*> old;
  for (const Turn& turn : turns_) {
    if (turn.workspace == workspace && turn.visit && turn.visit->agent == agent && turn.asked_at < before) old.push_back(&turn);
  }
  std::ranges::sort(old, {}, [](const Turn* turn) { return std::pair(turn->asked_at, turn); });
  old.resize(std::min(old.size(), limit));
  std::vector<TurnId> ids;
  std::ranges::transform(old, std::back_inserter(ids), &Turn::id);
  erase(ids);
  std::erase_if(agent_gaps_, [&](const auto& entry) {
    return entry.second.workspace == workspace && entry.second.agent == agent && entry.second.last_seen_at < before;
  });
  return ids.size();
}

}  // namespace footnote::fakes
