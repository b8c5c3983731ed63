#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/conversation.h"

namespace footnote {

/// A turn's trace is at most this long.
inline constexpr std::size_t kTurnTraceBytesMax = 64 << 10;

/// Turns and what is counted from them. Thread-safe; writes are durable when they return. Called after the last
/// token of an answer, never between the first and the last.
class ConversationStore {
 public:
  virtual ~ConversationStore() = default;
  /// Stores the turn with its trace (a JSON text that no store looks into; empty: none), counts it in the day's
  /// usage, and for a refusal rolls up its gap: one step. kTooLarge: a trace past kTurnTraceBytesMax.
  virtual Result<void> finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens,
                                   std::string_view trace) = 0;
  virtual Result<Turn> turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// As it was stored; it goes with its turn. kNotFound: the workspace has no such turn, or that has no trace.
  virtual Result<std::string> trace(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// The last `limit` turns of a conversation, oldest first.
  virtual Result<std::vector<Turn>> history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                            std::size_t limit) const = 0;
  /// Open gaps, most frequent first.
  virtual Result<std::vector<Gap>> gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const = 0;
  virtual Result<std::vector<UsageDay>> usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const = 0;
};

}  // namespace footnote
