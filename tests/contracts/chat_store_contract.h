#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/catalog_store.h"
#include "ports/chat_store.h"
#include "ports/conversation_store.h"

/// What every ChatStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, ChatStoreContract, ::testing::Values(ChatStoreCase{"sqlite", make}), chat_store_case_name);
namespace footnote::contract {

/// A store, empty, with the turns that its chats refer to.
class ChatStoreHarness {
 public:
  virtual ~ChatStoreHarness() = default;
  virtual ChatStore& chats() = 0;
  virtual ConversationStore& conversations() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  virtual WorkspaceId other_workspace() = 0;
};

struct ChatStoreCase {
  std::string name;
  std::function<std::unique_ptr<ChatStoreHarness>()> make;
};

inline std::string chat_store_case_name(const ::testing::TestParamInfo<ChatStoreCase>& info) { return info.param.name; }

class ChatStoreContract : public ::testing::TestWithParam<ChatStoreCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = harness_->catalog().ensure_corpus(call_, workspace_, "memory", {"model-a", 8}).value().id;
  }

  ChatStore& store() { return harness_->chats(); }
  Chat make(std::string id, std::string title = "A title", std::string owner = "key:1") {
    Chat chat{
        .id = {std::move(id)}, .workspace = workspace_, .owner = std::move(owner), .title = std::move(title), .project_keys = {"memory"}};
    chat.created_at = chat.updated_at = harness_->clock().now();
    const auto made = store().create_chat(call_, chat);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return chat;
  }
  Result<void> try_add(const Chat& chat, std::string id, std::string parent, MessageRole role, std::string text = "text") {
    return store().add_message(
        call_, chat.workspace, chat.id,
        {.id = std::move(id), .parent = std::move(parent), .role = role, .text = std::move(text), .created_at = harness_->clock().now()});
  }
  void add(const Chat& chat, std::string id, std::string parent, MessageRole role, std::string text = "text") {
    const auto added = try_add(chat, std::move(id), std::move(parent), role, std::move(text));
    EXPECT_TRUE(added.has_value()) << added.error().message;
  }
  void finish_turn(std::string id, const Chat& chat) {
    const Turn turn{.id = {std::move(id)},
                    .workspace = workspace_,
                    .corpus = corpus_,
                    .conversation = chat.id,
                    .question = "q",
                    .outcome = Answer{.text = "a"},
                    .asked_at = harness_->clock().now()};
    EXPECT_TRUE(harness_->conversations().finish_turn(call_, turn, 0, 0, "{}").has_value());
  }
  std::vector<std::string> listed(ChatQuery query) {
    query.workspace = workspace_;
    if (query.owner.empty()) query.owner = "key:1";
    std::vector<std::string> out;
    const auto page = store().chats(call_, query);
    EXPECT_TRUE(page.has_value()) << page.error().message;
    if (page) {
      for (const Chat& chat : page->chats) out.push_back(chat.id.value);
    }
    return out;
  }
  std::vector<std::string> path(const Chat& chat, std::string_view leaf, std::size_t limit = 100) {
    std::vector<std::string> out;
    const auto nodes = store().path(call_, workspace_, chat.id, leaf, limit).value();
    for (const ChatNode& node : nodes) out.push_back(node.id);
    return out;
  }

  const CallContext call_;
  std::unique_ptr<ChatStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  CorpusId corpus_;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(ChatStoreContract, AChatComesBackAsItWasMade) {
  const Chat made = make("chat-1", "Leave \xE2\x82\xAC");
  const Chat found = store().chat(call_, workspace_, made.id).value();
  EXPECT_EQ(found.title, made.title);
  EXPECT_EQ(found.owner, "key:1");
  EXPECT_THAT(found.project_keys, ElementsAre("memory"));
  EXPECT_EQ(found.created_at, made.created_at);
  EXPECT_EQ(found.active_leaf, "");
  EXPECT_EQ(found.messages, 0);
  EXPECT_EQ(store().create_chat(call_, made).error().code, ErrorCode::kAlreadyExists);
}

TEST_P(ChatStoreContract, AConversationOfAnotherDoorCannotBeTaken) {
  finish_turn("turn_visitor", {.id = {"conv_v"}, .workspace = workspace_, .owner = ""});
  const Chat chat{.id = {"conv_v"}, .workspace = workspace_, .owner = "key:1"};
  EXPECT_EQ(store().create_chat(call_, chat).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(store().erase_chat(call_, workspace_, chat.id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(harness_->conversations().turn(call_, workspace_, {"turn_visitor"}).has_value());
}

TEST_P(ChatStoreContract, MessagesAreATree) {
  const Chat chat = make("chat-1");
  add(chat, "u1", "", MessageRole::kUser, "How long?");
  add(chat, "a1", "u1", MessageRole::kAssistant);
  add(chat, "a2", "u1", MessageRole::kAssistant);
  add(chat, "u2", "a1", MessageRole::kUser);
  EXPECT_THAT(path(chat, "u2"), ElementsAre("u1", "a1", "u2"));
  EXPECT_THAT(path(chat, "a2"), ElementsAre("u1", "a2"));
  EXPECT_THAT(path(chat, "u2", 2), ElementsAre("a1", "u2"));
  EXPECT_EQ(store().chat(call_, workspace_, chat.id)->active_leaf, "u2");
  EXPECT_EQ(store().chat(call_, workspace_, chat.id)->messages, 4);
  EXPECT_EQ(store().messages(call_, workspace_, chat.id)->at(0).text, "How long?");
  EXPECT_EQ(store().message(call_, workspace_, chat.id, "a2")->role, MessageRole::kAssistant);
  EXPECT_EQ(store().message(call_, workspace_, chat.id, "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(try_add(chat, "u3", "none", MessageRole::kUser).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(try_add(chat, "u2", "a1", MessageRole::kUser).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(try_add({.id = {"chat-2"}, .workspace = workspace_, .owner = ""}, "u", "", MessageRole::kUser).error().code,
            ErrorCode::kNotFound);
}

TEST_P(ChatStoreContract, AChatHoldsOnlySoManyMessages) {
  const Chat chat = make("chat-1");
  std::string parent;
  for (std::size_t i = 0; i < kChatMessagesMax; ++i) {
    const std::string id = "m" + std::to_string(i);
    ASSERT_TRUE(try_add(chat, id, parent, MessageRole::kUser).has_value());
    parent = id;
  }
  EXPECT_EQ(try_add(chat, "more", parent, MessageRole::kUser).error().code, ErrorCode::kFailedPrecondition);
}

TEST_P(ChatStoreContract, TitleAndBranchChange) {
  const Chat chat = make("chat-1");
  add(chat, "u1", "", MessageRole::kUser);
  add(chat, "a1", "u1", MessageRole::kAssistant);
  EXPECT_EQ(store().change_chat(call_, workspace_, chat.id, {.title = "New", .active_leaf = "u1"})->active_leaf, "u1");
  EXPECT_EQ(store().chat(call_, workspace_, chat.id)->title, "New");
  EXPECT_EQ(store().change_chat(call_, workspace_, chat.id, {.active_leaf = "none"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(store().change_chat(call_, workspace_, {"none"}, {.title = "x"}).error().code, ErrorCode::kNotFound);
}

TEST_P(ChatStoreContract, ListsAreByOwnerAndLastChange) {
  const Chat first = make("chat-1", "Parental leave");
  harness_->clock().advance(std::chrono::minutes{1});
  make("chat-2", "100% sure_thing");
  make("chat-3", "Foreign", "key:2");
  harness_->clock().advance(std::chrono::minutes{1});
  add(first, "u1", "", MessageRole::kUser, "What about TWINS?");
  EXPECT_THAT(listed({}), ElementsAre("chat-1", "chat-2"));
  EXPECT_THAT(listed({.owner = "key:2"}), ElementsAre("chat-3"));
  EXPECT_THAT(listed({.search = "twins"}), ElementsAre("chat-1"));
  EXPECT_THAT(listed({.search = "100%"}), ElementsAre("chat-2"));
  EXPECT_THAT(listed({.search = "0_0"}), IsEmpty());
  const ChatPage page = store().chats(call_, {.workspace = workspace_, .owner = "key:1", .limit = 1}).value();
  ASSERT_EQ(page.chats.size(), 1U);
  EXPECT_THAT(listed({.after = page.next, .limit = 1}), ElementsAre("chat-2"));
  EXPECT_EQ(store().chats(call_, {.workspace = workspace_, .owner = "key:1", .after = "no page"}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_P(ChatStoreContract, ErasingAChatErasesItsTurns) {
  const Chat chat = make("chat-1");
  add(chat, "u1", "", MessageRole::kUser);
  finish_turn("turn_1", chat);
  ASSERT_TRUE(store().erase_chat(call_, workspace_, chat.id).has_value());
  EXPECT_EQ(store().chat(call_, workspace_, chat.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().messages(call_, workspace_, chat.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(harness_->conversations().turn(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  make("chat-1");
}

TEST_P(ChatStoreContract, OldChatsAreErasedOldestFirst) {
  make("chat-1");
  harness_->clock().advance(std::chrono::hours{1});
  make("chat-2");
  harness_->clock().advance(std::chrono::hours{1});
  make("chat-3");
  const UtcTime now = harness_->clock().now();
  EXPECT_EQ(store().erase_chats(call_, now, 1).value(), 1U);
  EXPECT_THAT(listed({}), ElementsAre("chat-3", "chat-2"));
  EXPECT_EQ(store().erase_chats(call_, now, 10).value(), 1U);
  EXPECT_THAT(listed({}), ElementsAre("chat-3"));
}

TEST_P(ChatStoreContract, TheLastRatingCountsAndCanBeTakenBack) {
  const Chat chat = make("chat-1");
  add(chat, "u1", "", MessageRole::kUser);
  finish_turn("turn_1", chat);
  ASSERT_TRUE(store()
                  .add_message(call_, workspace_, chat.id,
                               {.id = "turn_1", .parent = "u1", .role = MessageRole::kAssistant, .turn = {"turn_1"}, .meta = "{\"a\":1}"})
                  .has_value());
  const auto feedback = [&] { return store().messages(call_, workspace_, chat.id)->at(1).feedback; };
  EXPECT_EQ(store().messages(call_, workspace_, chat.id)->at(1).meta, "{\"a\":1}");
  ASSERT_TRUE(store().rate(call_, workspace_, {"turn_1"}, Feedback{Rating::kUp, ""}).has_value());
  ASSERT_TRUE(store().rate(call_, workspace_, {"turn_1"}, Feedback{Rating::kDown, "wrong year"}).has_value());
  EXPECT_EQ(feedback(), (Feedback{Rating::kDown, "wrong year"}));
  ASSERT_TRUE(store().rate(call_, workspace_, {"turn_1"}, std::nullopt).has_value());
  EXPECT_EQ(feedback(), std::nullopt);
  EXPECT_EQ(store().rate(call_, workspace_, {"none"}, Feedback{}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().rate(call_, workspace_, {"turn_1"}, Feedback{Rating::kUp, std::string(kFeedbackCharsMax + 1, 'x')}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_P(ChatStoreContract, AnEvalCaseOfATurnIsReplaced) {
  EvalCase made{.workspace = workspace_,
                .corpus = corpus_,
                .turn = {"turn_1"},
                .question = "How long?",
                .document_keys = {"a.md"},
                .answers = {"26 weeks"},
                .created_at = harness_->clock().now()};
  const std::int64_t id = store().put_eval_case(call_, made).value();
  made.answerable = false;
  EXPECT_EQ(store().put_eval_case(call_, made).value(), id);
  const auto cases = store().eval_cases(call_, workspace_, 0, 10).value();
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_FALSE(cases[0].answerable);
  EXPECT_EQ(cases[0].question, "How long?");
  EXPECT_THAT(cases[0].document_keys, ElementsAre("a.md"));
  EXPECT_THAT(cases[0].answers, ElementsAre("26 weeks"));
  EXPECT_TRUE(store().eval_cases(call_, workspace_, id, 10)->empty());
  made.workspace = harness_->other_workspace();
  EXPECT_EQ(store().put_eval_case(call_, made).error().code, ErrorCode::kNotFound);
}

TEST_P(ChatStoreContract, WorkspacesDoNotSeeEachOther) {
  const Chat chat = make("chat-1");
  add(chat, "u1", "", MessageRole::kUser);
  finish_turn("turn_1", chat);
  const WorkspaceId other = harness_->other_workspace();
  EXPECT_EQ(store().chat(call_, other, chat.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().messages(call_, other, chat.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().message(call_, other, chat.id, "u1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().change_chat(call_, other, chat.id, {.title = "x"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().erase_chat(call_, other, chat.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().rate(call_, other, {"turn_1"}, Feedback{}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().chats(call_, {.workspace = other, .owner = "key:1"})->chats.empty());
  EXPECT_TRUE(store().eval_cases(call_, other, 0, 10)->empty());
}

}  // namespace footnote::contract
