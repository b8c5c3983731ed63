#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/caller.h"
#include "answer/answer_service.h"
#include "api/kb_wire.h"
#include "api/live_streams.h"
#include "base/metrics.h"
#include "ports/catalog_store.h"
#include "ports/chat_store.h"
#include "ports/chunk_store.h"
#include "ports/conversation_store.h"
#include "ports/edge_store.h"

namespace footnote::api {

/// What the routes for users' conversations need. Borrowed.
struct ConversationServices {
  ChatStore& chats;
  ConversationStore& conversations;
  const CatalogStore& catalog;
  const ChunkReader& chunks;
  EdgeStore& edges;
  LiveStreams& streams;
  const Clock& clock;
  bool mask_pii = false;  ///< Of users' messages, before they are stored.
  Counter& not_stored;    ///< Messages that the store failed to take.
};

/// Who owns the conversations of a caller: one key, or all callers without one.
std::string owner_of(const access::Caller& caller);
/// The conversation, if it is the caller's or the caller is an admin; kNotFound otherwise, as if there were none.
Result<Chat> visible_chat(const ConversationServices& services, const access::Caller& caller, const ConversationId& id,
                          const CallContext& call);
/// The same for a turn: the caller's, or one without a conversation. A visitor's turn is kNotFound.
Result<Turn> visible_turn(const ConversationServices& services, const access::Caller& caller, const TurnId& id, const CallContext& call);

/// Conversation ids of different workspaces may be equal; those of streams may not.
ConversationId stream_scope(WorkspaceId workspace, const ConversationId& id);

/// A question's place in its conversation: the user's message is stored before the answer begins, the answer after its end. Clients name
/// places, but every text comes from the store. If the store fails, the question is answered all the same, as one without a past.
class ConversationTurn {
 public:
  /// Finds or makes the conversation, and stores the user's message. `asked.text` is set if an earlier question is asked again.
  /// kNotFound: the conversation is another caller's. kInvalidArgument names the field of a place that does not exist.
  static Result<ConversationTurn> begin(const ConversationServices& services, const access::Caller& caller, KbQuestion& asked,
                                        const CallContext& call);

  const ConversationId& id() const { return chat_.id; }
  const Chat& chat() const { return chat_; }
  const std::vector<ChatMessage>& history() const { return history_; }
  /// {"conversationId","userMessageId"}
  JsonObject about() const;
  /// Stores the answer below the user's message. A failure is logged and counted.
  void finish(const CallContext& call, const TurnId& turn, std::string_view text, const JsonObject& meta) const;

 private:
  explicit ConversationTurn(const ConversationServices& services) : services_(&services) {}
  /// A text as it is stored.
  std::string kept(std::string_view text) const;
  Result<void> find_chat(const access::Caller& caller, const KbQuestion& asked, const CallContext& call);
  Result<void> place(KbQuestion& asked, const CallContext& call);
  Result<std::string> place_again(KbQuestion& asked, const CallContext& call);
  Result<std::string> parent_of_new(const KbQuestion& asked, const CallContext& call);
  Result<void> add_user_message(const KbQuestion& asked, const std::string& parent, const CallContext& call);
  Result<void> read_history(const std::string& leaf, const CallContext& call);
  void note_failure(const CallContext& call, const Error& error) const;

  const ConversationServices* services_;
  Chat chat_;
  std::string user_message_;
  std::vector<ChatMessage> history_;
  bool is_stored_ = true;
};

}  // namespace footnote::api
