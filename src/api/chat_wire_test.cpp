#include "api/chat_wire.h"

#include <gtest/gtest.h>

#include "api/chunk_sink.h"
#include "api/responses_wire.h"

namespace footnote::api {
namespace {

const std::vector<proxy::Source> kSources{{"https://a/", "A", "alpha"}, {"https://b/", "", "beta"}};

JsonObject object(std::string_view text) { return parse_json(text).value().get_object(); }

TEST(ChatWire, AnnotationsNameTheirSources) {
  answer::MarkerScan scan(kSources.size());
  scan.feed("x[2]");
  EXPECT_EQ(to_text(render_annotations(scan.marks(), kSources)),
            R"([{"type":"url_citation","url_citation":{"start_index":1,"end_index":4,"url":"https://b/","title":"https://b/"}}])");
}

TEST(ChatWire, TheQuestionIsTheLastUserMessageWithText) {
  const auto question = [](std::string_view messages) { return question_of(object(R"({"messages":)" + std::string(messages) + "}")); };
  EXPECT_EQ(question(R"([{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"}])"), "b");
  EXPECT_EQ(question(R"([{"role":"user","content":"a"},{"role":"user","content":[{"type":"image_url","image_url":{}}]}])"), "a");
  EXPECT_EQ(question(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])"), "a\nb");
  for (const char* wrong :
       {"[]", "7", "[7]", R"([{"role":"user"}])", R"([{"role":"user","content":7}])", R"([{"role":"system","content":"x"}])"}) {
    const auto none = question(wrong);
    ASSERT_FALSE(none) << wrong;
    EXPECT_EQ(none.error().field, "messages");
  }
  std::string many = R"([{"role":"user","content":"a"})";
  for (std::size_t i = 1; i < kChatMessagesMax; ++i) many += R"(,{"role":"user","content":"a"})";
  EXPECT_TRUE(question(many + "]"));
  EXPECT_EQ(question(many + R"(,{"role":"user","content":"a"}])").error().code, ErrorCode::kTooLarge);
}

TEST(ChatWire, HistoryGoesAlongInWholeTurns) {
  const JsonObject body =
      object(R"({"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"1"},{"role":"user","content":"two"},
    {"role":"assistant","content":"2"},{"role":"user","content":"q"}]})");
  const auto roles = [&](std::size_t bytes) {
    return grounded_messages(body, {.system = "S", .message = "M", .history_bytes_max = bytes}).size();
  };
  EXPECT_EQ(roles(1000), 6u);
  const std::size_t turn = std::string_view(R"({"role":"user","content":"two"}{"role":"assistant","content":"2"})").size();
  EXPECT_EQ(roles(turn), 4u);
  EXPECT_EQ(roles(turn - 1), 2u);
}

TEST(ChunkRestorer, RestoresTheNameAndTellsAnnotationsBeforeTheEnd) {
  ChunkRestorer restorer("rag/x", kSources);
  const auto first =
      restorer.restore(object(R"({"id":"i","model":"local/x","choices":[{"index":0,"delta":{"content":"a [1"},"finish_reason":null}]})"));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(to_text(first[0]), R"({"id":"i","model":"rag/x","choices":[{"index":0,"delta":{"content":"a [1"},"finish_reason":null}]})");
  EXPECT_FALSE(restorer.finished());
  const auto last =
      restorer.restore(object(R"({"id":"i","model":"local/x","choices":[{"index":0,"delta":{"content":"]"},"finish_reason":"stop"}]})"));
  ASSERT_EQ(last.size(), 2u);
  EXPECT_NE(to_text(last[0]).find(R"("start_index":2,"end_index":5,"url":"https://a/","title":"A")"), std::string::npos);
  EXPECT_TRUE(restorer.finished());
}

TEST(ChunkRestorer, AnAnswerThatRecitesTheOperatorsPromptEnds) {
  constexpr std::string_view kSystem = "Never tell anybody that the warehouse in Linz closes in May.";
  ChunkRestorer restorer("rag/x", kSources, std::string(kSystem));
  std::string shown;
  const auto send = [&](std::string_view text, std::string_view finish) {
    for (const JsonObject& chunk : restorer.restore(
             JsonObject{{"choices", JsonArray{JsonObject{{"index", 0},
                                                         {"delta", JsonObject{{"content", text}}},
                                                         {"finish_reason", finish.empty() ? Json(nullptr) : Json(finish)}}}}})) {
      const JsonObject& choice = chunk.at("choices").as_array().at(0).as_object();
      if (const Json* content = choice.at("delta").as_object().if_contains("content")) shown += content->as_string();
      if (!choice.at("finish_reason").is_null()) shown += " <" + std::string(choice.at("finish_reason").as_string()) + ">";
    }
  };
  send("Sure: [1] never tell ", "");
  send("anybody that the warehouse in Linz closes in May. More.", "");
  send("", "stop");
  EXPECT_EQ(shown, "Sure: [1] never tell  <content_filter>");
  JsonObject whole = object(R"({"choices":[{"message":{"content":"Hm. Never tell anybody that the warehouse in Linz closes."}}]})");
  restore_completion(whole, "rag/x", kSources, kSystem);
  EXPECT_EQ(to_text(whole.at("choices").as_array().at(0)), R"({"message":{"content":"Hm. "},"finish_reason":"content_filter"})");
}

TEST(ChunkRestorer, AnAnswerThatRepeatsItselfEnds) {
  ChunkRestorer restorer("rag/x", kSources);
  std::string shown;
  std::size_t sent = 0;
  for (int i = 0; i < 50; ++i) {
    for (const JsonObject& chunk : restorer.restore(object(R"({"choices":[{"index":0,"delta":{"content":"The answer is [1]: "}}]})"))) {
      const JsonObject& choice = chunk.at("choices").as_array().at(0).as_object();
      if (const Json* content = choice.at("delta").as_object().if_contains("content")) shown += content->as_string();
      const Json* finish = choice.if_contains("finish_reason");
      if (finish != nullptr && !finish->is_null()) shown += "<" + std::string(finish->as_string()) + ">";
    }
    if (!restorer.cut()) ++sent;
  }
  EXPECT_LT(sent, 6U);
  EXPECT_TRUE(restorer.finished());
  EXPECT_TRUE(shown.ends_with("The answer is [1]: <content_filter>")) << shown;
  JsonObject whole = object(R"({"choices":[{"message":{"content":""}}]})");
  std::string text = "Three days [1]. ";
  for (int i = 0; i < 50; ++i) text += "The answer is: ";
  whole.at("choices").as_array().at(0).as_object().at("message").as_object()["content"] = text;
  restore_completion(whole, "rag/x", kSources);
  const JsonObject& choice = whole.at("choices").as_array().at(0).as_object();
  EXPECT_EQ(choice.at("finish_reason").as_string(), "content_filter");
  EXPECT_LT(choice.at("message").as_object().at("content").as_string().size(), 120U);
}

TEST(ChunkRestorer, StrangeChunksPass) {
  ChunkRestorer restorer("rag/x", kSources);
  for (const char* chunk :
       {"{}", R"({"choices":7})", R"({"choices":[7,null,{"index":"a","delta":[],"finish_reason":null}]})", R"({"usage":{"a":1}})"}) {
    const auto out = restorer.restore(object(chunk));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(to_text(out[0]), to_text(object(chunk)));
  }
  for (std::size_t i = 0; i < ChunkRestorer::kChoicesMax + 5; ++i) {
    (void)restorer.restore(object(fmt::format(R"({{"choices":[{{"index":{},"delta":{{"content":"[1]"}},"finish_reason":"stop"}}]}})", i)));
  }
}

TEST(ChatWire, KnowsWhenAModelIsNotThere) {
  EXPECT_TRUE(says_no_such_model(404, ""));
  EXPECT_TRUE(says_no_such_model(400, R"({"error":{"code":"model_not_found"}})"));
  EXPECT_TRUE(says_no_such_model(400, R"({"error":{"message":"/chat/completions: Invalid model name passed in model=local/x"}})"));
  EXPECT_TRUE(says_no_such_model(400, R"({"error":{"message":"The model `x` does not exist"}})"));
  EXPECT_FALSE(says_no_such_model(400, R"({"error":{"message":"temperature is wrong"}})"));
  EXPECT_FALSE(says_no_such_model(500, "model not found"));
}

TEST(ResponsesWire, BecomesAChat) {
  const auto chat = [](std::string_view body) { return chat_of_response_ask({.model = "rag/x", .body = object(body)}); };
  EXPECT_EQ(to_text(chat(R"({"instructions":"I","input":[{"role":"user","content":[{"type":"input_text","text":"a"},
              {"type":"input_image","image_url":"u"}]}],"top_p":0.5,"tools":[],"store":false})")
                        ->body),
            R"({"model":"rag/x","messages":[{"role":"system","content":"I"},{"role":"user","content":[{"type":"text","text":"a"},)"
            R"({"type":"image_url","image_url":{"url":"u"}}]}],"top_p":0.5})");
  for (const char* wrong :
       {R"({"input":"x","tools":[{}]})", R"({"input":"x","previous_response_id":"r"})", R"({"input":[{"type":"reasoning"}]})",
        R"({"input":[{"role":"user","content":[{"type":"input_file"}]}]})", R"({"input":[{"role":"user","content":[7]}]})", "{}"}) {
    EXPECT_FALSE(chat(wrong)) << wrong;
  }
}

TEST(ChunkEvents, WhatFailsBeforeTheFirstChunkIsAPlainError) {
  http::RecordedStream recorded;
  ChunkEvents sink(recorded);
  sink.begin({{"x-a", "1"}});
  send_error(sink, {ErrorCode::kUnavailable, "away", {}});
  EXPECT_FALSE(recorded.sse_started());
  EXPECT_EQ(recorded.response().status, 503);
  EXPECT_EQ(recorded.response().headers.find("retry-after"), "1");
}

TEST(ChunkEvents, WhatFailsLaterIsToldInTheStream) {
  http::RecordedStream recorded;
  ChunkEvents sink(recorded);
  sink.begin({{"x-a", "1"}, {"content-type", "text/event-stream; x"}});
  EXPECT_TRUE(sink.take(object(R"({"a":1})")));
  send_error(sink, {ErrorCode::kUnavailable, "away", {}});
  EXPECT_EQ(recorded.response().headers.find("x-a"), "1");
  EXPECT_EQ(
      recorded.response().body,
      "data: {\"a\":1}\n\ndata: {\"error\":{\"message\":\"away\",\"type\":\"server_error\",\"param\":null,\"code\":\"unavailable\"}}\n\n");
}

}  // namespace
}  // namespace footnote::api
