#pragma once

#include "api/kb_conversation.h"
#include "app/answer_parts.h"

namespace footnote::app {

/// The knowledge base's conversations: their store and the answers that are being written.
class KbDoor {
 public:
  /// Borrows `parts`.
  KbDoor(const Settings& settings, AnswerParts& parts);

  api::ConversationServices services();

 private:
  AnswerParts& parts_;
  Counter& not_stored_;
  api::LiveStreams streams_;
};

}  // namespace footnote::app
