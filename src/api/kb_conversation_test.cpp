#include "api/kb_conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/memory_chat_store.h"
#include "fakes/memory_edge_store.h"
#include "fakes/memory_store.h"

namespace footnote::api {
namespace {

class KbConversation : public ::testing::Test {
 protected:
  KbQuestion question(std::string text, std::string conversation = "chat-1") {
    KbQuestion out;
    out.text = std::move(text);
    out.corpus_names = {"memory"};
    out.conversation = std::move(conversation);
    return out;
  }
  /// Asks and answers; returns the answer's id.
  std::string talk(KbQuestion asked, std::string_view answer) {
    const auto turn = ConversationTurn::begin(services_, caller_, asked, call_);
    EXPECT_TRUE(turn.has_value()) << turn.error().message;
    const TurnId id{"turn_" + std::to_string(++turns_)};
    turn->finish(call_, id, answer, {{"turn_id", id.value}});
    return id.value;
  }
  std::vector<std::string> history(KbQuestion asked) {
    std::vector<std::string> out;
    const auto turn = ConversationTurn::begin(services_, caller_, asked, call_);
    EXPECT_TRUE(turn.has_value()) << turn.error().message;
    for (const ChatMessage& message : turn->history()) out.push_back(message.content);
    return out;
  }

  const CallContext call_;
  const SystemClock clock_;
  fakes::MemoryStore store_{clock_};
  fakes::MemoryChatStore chats_{store_};
  fakes::MemoryEdgeStore edges_{store_};
  LiveStreams streams_{LiveStreams::Options{}};
  Counter not_stored_;
  ConversationServices services_{.chats = chats_,
                                 .conversations = store_,
                                 .catalog = store_,
                                 .chunks = store_,
                                 .edges = edges_,
                                 .streams = streams_,
                                 .clock = clock_,
                                 .not_stored = not_stored_};
  const access::Caller caller_{
      .workspace = store_.find_workspace({}, kDefaultWorkspace)->id, .scopes = {KeyScope::kRead}, .principal = {7}};
  int turns_ = 0;
};

TEST_F(KbConversation, HistoryIsThePathInTheStore) {
  const std::string first = talk(question("How long is leave?"), "26 weeks [1].");
  talk(question("And for twins?"), "30 weeks [2].");
  KbQuestion branch = question("And for fathers?");
  branch.parent_id = first;
  EXPECT_THAT(history(branch), ::testing::ElementsAre("How long is leave?", "26 weeks."))
      << "without the other branch, and without markers";
}

TEST_F(KbConversation, AnUnansweredQuestionIsNoHistory) {
  KbQuestion asked = question("How long is leave?");
  ASSERT_TRUE(ConversationTurn::begin(services_, caller_, asked, call_).has_value());
  EXPECT_TRUE(history(question("Hello?")).empty());
}

TEST_F(KbConversation, AnotherCallerDoesNotSeeIt) {
  talk(question("How long is leave?"), "26 weeks [1].");
  const access::Caller other{.workspace = caller_.workspace, .scopes = {KeyScope::kRead}, .principal = {8}};
  KbQuestion asked = question("What was said?");
  EXPECT_EQ(ConversationTurn::begin(services_, other, asked, call_).error().code, ErrorCode::kNotFound);
  const access::Caller admin{.workspace = caller_.workspace, .scopes = {KeyScope::kAdmin}};
  EXPECT_TRUE(visible_chat(services_, admin, {"chat-1"}, call_).has_value());
}

TEST_F(KbConversation, AFailingStoreCostsNoAnswer) {
  for (const ErrorCode code : {ErrorCode::kStorageFull, ErrorCode::kUnavailable, ErrorCode::kInternal, ErrorCode::kCorrupted}) {
    const std::uint64_t before = not_stored_.value();
    chats_.faults().fail_after(0, code);
    KbQuestion asked = question("How long is leave?");
    const auto turn = ConversationTurn::begin(services_, caller_, asked, call_);
    ASSERT_TRUE(turn.has_value()) << turn.error().message;
    EXPECT_TRUE(turn->history().empty());
    turn->finish(call_, {"turn_x"}, "26 weeks.", {});
    EXPECT_EQ(not_stored_.value(), before + 1);
    chats_.faults().heal();
  }
  talk(question("How long is leave?"), "26 weeks.");
  KbQuestion asked = question("And now?");
  const auto turn = ConversationTurn::begin(services_, caller_, asked, call_);
  chats_.faults().fail_after(0, ErrorCode::kStorageFull);
  turn->finish(call_, {"turn_y"}, "The end fails too.", {});
  chats_.faults().heal();
  EXPECT_EQ(chats_.messages(call_, caller_.workspace, {"chat-1"})->size(), 3U);
}

TEST_F(KbConversation, MasksWhatIdentifiesAPersonIfAsked) {
  services_.mask_pii = true;
  talk(question("Is anna@example.com on leave?"), "Yes [1].");
  EXPECT_EQ(chats_.messages(call_, caller_.workspace, {"chat-1"})->at(0).text, "Is [email] on leave?");
  EXPECT_EQ(chats_.chat(call_, caller_.workspace, {"chat-1"})->title, "Is [email] on leave?");
}

}  // namespace
}  // namespace footnote::api
