#pragma once

#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/conversation.h"

namespace footnote {

/// Turns and what is counted from them. Thread-safe; writes are durable when they return. Called after the last
/// token of an answer, never between the first and the last.
class ConversationStore {
 public:
  virtual ~ConversationStore() = default;
  /// Stores the turn, counts it in the day's usage, and for a refusal rolls up its gap: one step.
  virtual Result<void> finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens,
                                   std::int64_t completion_tokens) = 0;
  virtual Result<Turn> turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// The last `limit` turns of a conversation, oldest first.
  virtual Result<std::vector<Turn>> history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                            std::size_t limit) const = 0;
  /// Open gaps, most frequent first.
  virtual Result<std::vector<Gap>> gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const = 0;
  virtual Result<std::vector<UsageDay>> usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const = 0;
};

}  // namespace footnote
