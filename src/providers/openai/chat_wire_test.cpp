#include "providers/openai/chat_wire.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace footnote {
namespace {

constexpr std::string_view kStream =
    ": keep-alive\n\n"
    "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Gr\xC3\xBC\xC3\x9F\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\" Gott\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":4}}\n\n"
    "data: [DONE]\n\n";

struct Read {
  std::string text;
  Result<ChatEnd> end = ChatEnd{};
};

/// Feeds `stream` in pieces of `step` bytes.
Read read(std::string_view stream, std::size_t step) {
  Read out;
  const ChatStreamReader::OnText on_text = [&](std::string_view text) -> Result<void> {
    out.text += text;
    return {};
  };
  ChatStreamReader reader(on_text);
  for (std::size_t at = 0; at < stream.size(); at += step) {
    if (auto fed = reader.feed(stream.substr(at, step)); !fed) {
      out.end = std::unexpected(fed.error());
      return out;
    }
  }
  out.end = reader.finish();
  return out;
}

TEST(ChatWire, AnySlicingReadsTheSame) {
  for (std::size_t step = 1; step <= kStream.size(); ++step) {
    const Read got = read(kStream, step);
    ASSERT_TRUE(got.end) << step;
    EXPECT_EQ(got.text, "Gr\xC3\xBC\xC3\x9F Gott");
    EXPECT_EQ(got.end->finish, FinishReason::kLength);
    EXPECT_EQ(got.end->model, "m-1");
    EXPECT_EQ(got.end->tokens, (TokenCounts{11, 4}));
  }
}

TEST(ChatWire, UsageMayComeWithChoicesOrNotAtAll) {
  EXPECT_EQ(
      read("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":2}}\n\n", 7).end->tokens->prompt,
      2);
  EXPECT_EQ(read("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n", 7).end->tokens, std::nullopt);
}

TEST(ChatWire, CountsThatCannotBeMeantReadAsNone) {
  const auto tokens = [](std::string_view count) {
    return read(fmt::format("data: {{\"usage\":{{\"prompt_tokens\":{}}}}}\n\ndata: [DONE]\n\n", count), 9).end->tokens->prompt;
  };
  EXPECT_EQ(tokens(std::to_string(kTokensMax)), kTokensMax);
  for (const std::string_view count : {"-1", "1000000001", "1e300", "18446744073709551615", "\"7\"", "null"})
    EXPECT_EQ(tokens(count), 0) << count;
}

TEST(ChatWire, AStreamThatBreaksOffIsAnErrorNotAnAnswer) {
  const Read got = read("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n", 5);
  EXPECT_EQ(got.text, "half");
  ASSERT_FALSE(got.end);
  EXPECT_EQ(got.end.error().code, ErrorCode::kUnavailable);
}

TEST(ChatWire, GarbageAndErrorObjectsInTheStreamEndIt) {
  EXPECT_EQ(read("data: {not json\n\n", 3).end.error().code, ErrorCode::kUnavailable);
  const Read got = read("data: {\"error\":{\"message\":\"secret detail\"}}\n\n", 3);
  ASSERT_FALSE(got.end);
  EXPECT_EQ(got.end.error().message.find("secret"), std::string::npos) << "the provider's own text is not included";
  EXPECT_TRUE(read("data: []\n\ndata: {\"choices\":[null]}\n\ndata: {\"choices\":{}}\n\ndata: 7\n\ndata: [DONE]\n\n", 4).end);
}

TEST(ChatWire, StatusesBecomeOurOwnErrors) {
  EXPECT_EQ(upstream_error(401).code, ErrorCode::kUnavailable);
  EXPECT_NE(upstream_error(401).message.find("LLM_API_KEY"), std::string::npos);
  EXPECT_NE(upstream_error(404).message.find("LLM_BASE_URL"), std::string::npos);
  EXPECT_EQ(upstream_error(429).code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(upstream_error(500).code, ErrorCode::kUnavailable);
  EXPECT_EQ(upstream_error(400).code, ErrorCode::kUnavailable);
}

TEST(ChatWire, TheRequestAsksForAStreamWithUsage) {
  const auto body = parse_json(render_chat_request({.messages = {{ChatRole::kSystem, "s"}, {ChatRole::kUser, "q\"\n"}}}, "m"));
  ASSERT_TRUE(body);
  EXPECT_EQ(to_text(*body), R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"q\"\n"}],)"
                            R"("temperature":0,"max_tokens":800,"stream":true,"stream_options":{"include_usage":true}})");
}

}  // namespace
}  // namespace footnote
