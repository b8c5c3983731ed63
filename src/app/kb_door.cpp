#include "app/kb_door.h"

namespace footnote::app {

namespace {

Profile profile_of(const Settings& settings) {
  Profile out = kKnowledgeBaseProfile;
  out.weights.vector = settings.number(Setting::kKbWeightVector);
  out.weights.keyword = settings.number(Setting::kKbWeightKeyword);
  out.weights.heading = settings.number(Setting::kKbWeightHeading);
  out.weights.tags = settings.number(Setting::kKbWeightTags);
  out.weights.priority = settings.number(Setting::kKbWeightPriority);
  return out;
}

}  // namespace

KbDoor::KbDoor(const Settings& settings, AnswerParts& parts)
    : parts_(parts),
      profile_(profile_of(settings)),
      mentions_boost_(settings.text(Setting::kKbMentions) == "boost"),
      mask_pii_(settings.flag(Setting::kKbMaskPii)),
      not_stored_(parts.base().metrics().counter("footnote_chat_messages_not_stored_total",
                                                 "Messages of conversations that could not be stored; their answers were given")),
      streams_(api::LiveStreams::Options{.resume_grace = settings.duration(Setting::kStreamResumeGrace)}) {}

api::ConversationServices KbDoor::services() {
  upkeep::Stores& stores = parts_.base().stores();
  return {.chats = stores.chats(),
          .conversations = stores.conversations(),
          .catalog = stores.catalog(),
          .chunks = stores.chunks(),
          .edges = stores.edges(),
          .streams = streams_,
          .clock = stores.clock(),
          .mask_pii = mask_pii_,
          .not_stored = not_stored_};
}

}  // namespace footnote::app
