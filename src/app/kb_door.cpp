#include "app/kb_door.h"

namespace footnote::app {

KbDoor::KbDoor(const Settings& settings, AnswerParts& parts)
    : parts_(parts),
      not_stored_(parts.base().metrics().counter("footnote_chat_messages_not_stored_total",
                                                 "Messages of conversations that could not be stored; their answers were given")),
      streams_(api::LiveStreams::Options{.resume_grace = settings.duration(Setting::kStreamResumeGrace)}) {}

api::ConversationServices KbDoor::services() {
  upkeep::Stores& stores = parts_.base().stores();
  return {.chats = stores.chats(),
          .conversations = stores.conversations(),
          .catalog = stores.catalog(),
          .chunks = stores.chunks(),
          .streams = streams_,
          .clock = stores.clock(),
          .not_stored = not_stored_};
}

}  // namespace footnote::app
