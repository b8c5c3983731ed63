#include "providers/openai/openai_llm.h"

#include <condition_variable>
#include <stdexcept>

#include "base/json.h"
#include "base/log.h"
#include "contracts/llm_contract.h"
#include "http/server.h"
#include "providers/remote/upstream_for_test.h"

namespace footnote::contract {
namespace {

/// A test server for chat completions, and an Llm that uses it.
class Upstream {
 public:
  explicit Upstream(http::StreamHandler handler) {
    set_log_level(LogLevel::kOff);
    http::Route route{.method = http::Method::kPost, .pattern = "/v1/chat/completions", .handler = std::move(handler)};
    server_ = http::Server::start({}, {std::move(route)}, metrics_).value();
  }
  std::string base_url() const { return fmt::format("http://127.0.0.1:{}/v1", server_->port()); }
  http::Client& client() { return client_; }

 private:
  Metrics metrics_;
  std::unique_ptr<http::Server> server_;
  http::Client client_{{}, metrics_};
};

struct Connected {
  explicit Connected(http::StreamHandler handler) : upstream(std::move(handler)) {}
  Upstream upstream;
  OpenAiLlm llm{upstream.client(), {.base_url = upstream.base_url(), .api_key = "key", .model = "asked-model"}};
};

std::shared_ptr<Llm> answered_by(http::StreamHandler handler) {
  const auto connected = std::make_shared<Connected>(std::move(handler));
  return {connected, &connected->llm};
}

Result<void> send_text(http::SseWriter& writer, std::string_view text) {
  const JsonObject choice{{"delta", JsonObject{{"content", text}}}};
  return writer.send(to_text(JsonObject{{"model", "upstream-model"}, {"choices", JsonArray{choice}}}));
}

std::shared_ptr<Llm> says(std::vector<std::string> pieces) {
  return answered_by([pieces = std::move(pieces)](const http::Request&, const CallContext&, http::ResponseStream& out) {
    http::SseWriter& writer = out.start_sse({});
    for (const std::string& piece : pieces) {
      if (!send_text(writer, piece)) return;
    }
    if (!writer.send(R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}})")) return;
    if (!writer.send("[DONE]")) return;
  });
}

/// Sends "one ", then calls `then`.
std::shared_ptr<Llm> says_one_then(std::function<void(http::SseWriter&, const CallContext&)> then) {
  return answered_by([then = std::move(then)](const http::Request&, const CallContext& call, http::ResponseStream& out) {
    http::SseWriter& writer = out.start_sse({});
    if (send_text(writer, "one ")) then(writer, call);
  });
}

/// Waits until the client disconnects; the server then stops the context.
void wait_for_stop(const CallContext& call) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_until(lock, call.stop, call.deadline, [] { return false; });
}

std::shared_ptr<Llm> hangs() {
  return says_one_then([](http::SseWriter&, const CallContext& call) { wait_for_stop(call); });
}

std::shared_ptr<Llm> is_over_limit() {
  return answered_by([](const http::Request&, const CallContext&, http::ResponseStream& out) {
    out.reply(http::Response::json(429, JsonObject{{"error", JsonObject{{"message", kProvidersWords}}}}));
  });
}

std::shared_ptr<Llm> is_down() {
  struct Alone {
    Metrics metrics;
    testing::ClosedPort port;
    http::Client client{{}, metrics};
    OpenAiLlm llm{client, {.base_url = fmt::format("http://127.0.0.1:{}/v1", port.number()), .model = "asked-model"}};
  };
  const auto alone = std::make_shared<Alone>();
  return {alone, &alone->llm};
}

/// Ways in which an upstream can break off.
std::shared_ptr<Llm> cuts_the_connection() {
  return says_one_then([](http::SseWriter&, const CallContext&) { throw std::runtime_error("gone"); });
}
std::shared_ptr<Llm> ends_without_a_reason() {
  return says_one_then([](http::SseWriter&, const CallContext&) {});
}
std::shared_ptr<Llm> sends_an_error() {
  return says_one_then([](http::SseWriter& writer, const CallContext&) { (void)writer.send(R"({"error":{"message":"overloaded"}})"); });
}

LlmCase broken_by(std::string name, std::function<std::shared_ptr<Llm>()> breaks_off) {
  return {std::move(name), says, std::move(breaks_off), hangs, is_down, is_over_limit};
}

INSTANTIATE_TEST_SUITE_P(OpenAi, LlmContract,
                         ::testing::Values(broken_by("openai_cut_off", cuts_the_connection),
                                           broken_by("openai_without_an_end", ends_without_a_reason),
                                           broken_by("openai_error_in_the_stream", sends_an_error)),
                         llm_case_name);

}  // namespace
}  // namespace footnote::contract

namespace footnote {
namespace {

Result<ChatEnd> ask(Llm& llm) {
  return llm.stream(CallContext::with_timeout(std::chrono::seconds{20}), {.messages = {{ChatRole::kUser, "q"}}},
                    [](std::string_view) -> Result<void> { return {}; });
}

TEST(OpenAiLlm, SendsKeyModelAndTraceAndTakesTheUpstreamsNameForTheModel) {
  http::Request seen;
  const auto handler = [&](const http::Request& request, const CallContext&, http::ResponseStream& out) {
    seen = request;
    (void)out.start_sse({}).send(R"({"model":"served-model","choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":7}})");
  };
  contract::Connected connected(handler);
  CallContext call = CallContext::with_timeout(std::chrono::seconds{20});
  call.request_id = "request-1";
  const auto end = connected.llm.stream(call, {.messages = {{ChatRole::kUser, "q"}}}, [](std::string_view) -> Result<void> { return {}; });
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(end->model, "served-model");
  EXPECT_EQ(end->tokens->prompt, 7);
  EXPECT_EQ(seen.headers.find("authorization"), "Bearer key");
  EXPECT_EQ(seen.request_id, "request-1");
  EXPECT_EQ(parse_json(seen.body)->at("model").as_string(), "asked-model");
}

TEST(OpenAiLlm, ARefusalNamesTheSettingThatMendsIt) {
  for (const auto& [refused_with, setting] : {std::pair{401, "LLM_API_KEY"}, {404, "LLM_MODEL"}}) {
    const auto llm = contract::answered_by([status = refused_with](const http::Request&, const CallContext&, http::ResponseStream& out) {
      out.reply(http::Response::text(status, "text/plain", "secret detail"));
    });
    const auto end = ask(*llm);
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(end.error().message.find(setting), std::string::npos) << end.error().message;
    EXPECT_EQ(end.error().message.find("secret"), std::string::npos);
  }
}

TEST(OpenAiLlm, NobodyThereNamesTheAddressSetting) {
  const auto end = ask(*contract::is_down());
  ASSERT_FALSE(end.has_value());
  EXPECT_NE(end.error().message.find("LLM_BASE_URL"), std::string::npos) << end.error().message;
}

}  // namespace
}  // namespace footnote
