#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "domain/webhook.h"
#include "fakes/memory_store.h"

namespace footnote::fakes {

namespace {

/// Questions that differ only in ASCII case, white space or closing punctuation are one gap.
std::string gap_key(std::string_view question) {
  std::string key = to_lower_ascii(fold_spaces(question));
  while (!key.empty() && (key.back() == '?' || key.back() == '!' || key.back() == '.' || key.back() == ' ')) key.pop_back();
  return key;
}

void count(UsageDay& day, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  ++day.questions;
  if (std::holds_alternative<Answer>(turn.outcome)) ++day.answers;
  if (std::holds_alternative<Refusal>(turn.outcome)) ++day.refusals;
  day.prompt_tokens += prompt_tokens;
  day.completion_tokens += completion_tokens;
}

std::string day_of(UtcTime time) { return to_rfc3339(time).substr(0, 10); }

}  // namespace

const Gap& MemoryStore::roll_up_gap(WorkspaceId workspace, CorpusId corpus, std::string_view question, GapReason reason, UtcTime at) {
  auto [entry, fresh] = gaps_.try_emplace({corpus, reason, gap_key(question)});
  Gap& gap = entry->second;
  if (fresh) gap = {{next_id()}, workspace, corpus, std::string(question), reason, 0, at, at};
  ++gap.occurrences;
  gap.last_seen_at = std::max(gap.last_seen_at, at);
  gap.resolved_at.reset();
  return gap;
}

void MemoryStore::count_turn(const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  UsageDay& day = usage_[{turn.workspace, day_of(turn.asked_at)}];
  day.day = day_of(turn.asked_at);
  count(day, turn, prompt_tokens, completion_tokens);
}

Result<void> MemoryStore::finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens,
                                      std::string_view trace) {
  FOOTNOTE_CHECK(call.check());
  if (trace.size() > kTurnTraceBytesMax) return fail(ErrorCode::kTooLarge, "the trace is too long");
  FOOTNOTE_CHECK(finish_turn_faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(check_in_workspace(turn.corpus, turn.workspace));
  if (std::ranges::find(turns_, turn.id, &Turn::id) != turns_.end()) {
    return fail(ErrorCode::kAlreadyExists, "turn {} is stored", turn.id.value);
  }
  if (turn.visit) {
    const auto erasure = erasures_.find({turn.workspace, turn.visit->visitor});
    if (erasure != erasures_.end() && turn.asked_at <= erasure->second) {
      if (turn.visit->playground) return {};
      count_visit(turn, prompt_tokens, completion_tokens);
      count_turn(turn, prompt_tokens, completion_tokens);
      return {};
    }
  }
  turns_.push_back(turn);
  if (!trace.empty()) traces_[{turn.workspace, turn.id}] = trace;
  if (turn.visit) turns_.back().visit->feedback = {};
  if (turn.visit && turn.visit->playground) return {};
  count_turn(turn, prompt_tokens, completion_tokens);
  events_.push_back({.id = {next_id()},
                     .workspace = turn.workspace,
                     .corpus = turn.corpus,
                     .type = std::string(kTurnCompleted),
                     .payload = to_text(JsonObject{{"turn_id", turn.id.value}}),
                     .happened_at = turn.asked_at + turn.latency});
  if (turn.visit) return finish_visit(call, turn, prompt_tokens, completion_tokens);
  const auto* refusal = std::get_if<Refusal>(&turn.outcome);
  const auto reason = refusal == nullptr ? std::nullopt : gap_of(refusal->reason);
  if (reason) roll_up_gap(turn.workspace, turn.corpus, turn.question, *reason, turn.asked_at);
  return {};
}

Result<Turn> MemoryStore::turn(const CallContext&, WorkspaceId workspace, const TurnId& id) const {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(turns_, id, &Turn::id);
  if (found == turns_.end() || found->workspace != workspace) return fail(ErrorCode::kNotFound, "no such turn");
  return *found;
}

Result<std::string> MemoryStore::trace(const CallContext&, WorkspaceId workspace, const TurnId& id) const {
  MutexLock lock(mutex_);
  const auto found = traces_.find({workspace, id});
  if (found == traces_.end()) return fail(ErrorCode::kNotFound, "no such trace");
  return found->second;
}

Result<std::vector<Turn>> MemoryStore::history(const CallContext&, WorkspaceId workspace, const ConversationId& id,
                                               std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<Turn> out;
  for (const Turn& turn : turns_) {
    if (turn.workspace == workspace && turn.conversation == id && id) out.push_back(turn);
  }
  if (out.empty()) return fail(ErrorCode::kNotFound, "no such conversation");
  out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(std::min(limit, out.size())));
  return out;
}

Result<std::vector<Gap>> MemoryStore::gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const {
  WorkspaceId workspace;
  {
    MutexLock lock(mutex_);
    FOOTNOTE_TRY(const StoredCorpus* found, stored(corpus));
    workspace = found->corpus.workspace;
  }
  return content_gaps(call, {.workspace = workspace, .corpora = {corpus}, .limit = limit});
}

Result<std::vector<Gap>> MemoryStore::content_gaps(const CallContext&, const GapQuery& query) const {
  MutexLock lock(mutex_);
  std::vector<Gap> out;
  for (const auto& [key, gap] : gaps_) {
    const bool is_asked = query.corpora.empty() || std::ranges::find(query.corpora, gap.corpus) != query.corpora.end();
    const bool is_reason = !query.reason || *query.reason == gap.reason;
    if (gap.workspace == query.workspace && is_asked && is_reason && (query.include_resolved || !gap.resolved_at)) out.push_back(gap);
  }
  std::ranges::sort(out, [](const Gap& a, const Gap& b) {
    if (a.occurrences != b.occurrences) return a.occurrences > b.occurrences;
    return a.last_seen_at != b.last_seen_at ? a.last_seen_at > b.last_seen_at : a.id < b.id;
  });
  out.resize(std::min(out.size(), query.limit));
  return out;
}

Result<Gap> MemoryStore::resolve_gap(const CallContext&, WorkspaceId workspace, GapId id, UtcTime at) {
  MutexLock lock(mutex_);
  for (auto& [key, gap] : gaps_) {
    if (gap.id != id || gap.workspace != workspace) continue;
    gap.resolved_at = at;
    return gap;
  }
  return fail(ErrorCode::kNotFound, "no such gap");
}

Result<Gap> MemoryStore::report_gap(const CallContext&, WorkspaceId workspace, CorpusId corpus, std::string_view question, GapReason reason,
                                    UtcTime at) {
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(check_in_workspace(corpus, workspace));
  return roll_up_gap(workspace, corpus, question, reason, at);
}

Result<std::vector<UsageDay>> MemoryStore::usage(const CallContext&, WorkspaceId workspace, std::size_t days) const {
  MutexLock lock(mutex_);
  const std::string first = days == 0 ? "9999" : day_of(clock_.now() - std::chrono::days{static_cast<int>(days) - 1});
  std::vector<UsageDay> out;
  for (const auto& [key, day] : usage_) {
    if (key.first == workspace && key.second >= first) out.push_back(day);
  }
  return out;
}

Result<void> MemoryStore::append(const CallContext& call, const Event& event) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(append_faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(check_in_workspace(event.corpus, event.workspace));
  events_.push_back(event);
  events_.back().id = {next_id()};
  return {};
}

void MemoryStore::token_streamed(const TokenStreamed& event) noexcept {
  MutexLock lock(mutex_);
  passed_.push_back("token " + std::string(event.text));
}

void MemoryStore::turn_completed(const TurnCompleted& event) noexcept {
  MutexLock lock(mutex_);
  const bool is_stored = std::ranges::find(turns_, event.turn.id, &Turn::id) != turns_.end();
  passed_.emplace_back(is_stored ? "completed" : "completed, but not stored");
}

std::vector<std::string> MemoryStore::passed() const {
  MutexLock lock(mutex_);
  return passed_;
}

void MemoryStore::erase_conversation(WorkspaceId workspace, const ConversationId& id) {
  MutexLock lock(mutex_);
  std::erase_if(turns_, [&](const Turn& turn) { return turn.workspace == workspace && turn.conversation == id; });
}

std::vector<Turn> MemoryStore::all_turns() const {
  MutexLock lock(mutex_);
  return turns_;
}

std::vector<Event> MemoryStore::all_events() const {
  MutexLock lock(mutex_);
  return events_;
}

}  // namespace footnote::fakes
