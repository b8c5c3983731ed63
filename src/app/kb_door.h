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
  /// The knowledge base's profile with the configured weights.
  const Profile& profile() const { return profile_; }
  bool mentions_boost() const { return mentions_boost_; }

 private:
  AnswerParts& parts_;
  const Profile profile_;
  const bool mentions_boost_;
  const bool mask_pii_;
  Counter& not_stored_;
  api::LiveStreams streams_;
};

}  // namespace footnote::app
