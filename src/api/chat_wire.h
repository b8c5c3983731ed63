#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/echo_guard.h"
#include "answer/loop_guard.h"
#include "answer/marker_scan.h"
#include "base/json.h"
#include "proxy/chat_policy.h"

namespace footnote::api {

inline constexpr std::size_t kChatMessagesMax = 10'000;
inline constexpr std::size_t kModelNameBytesMax = 512;

/// A chat completion request: the fields used here, and the whole body to forward.
struct ChatAsk {
  std::string model;
  bool stream = false;
  bool include_usage = false;
  JsonObject body;
};

/// kInvalidArgument: not a JSON object, or no model. Other fields are checked where they are used.
Result<ChatAsk> parse_chat_ask(std::string_view body);

/// For requests answered here: "stream" is true, false, null or absent. kInvalidArgument otherwise.
Result<void> check_stream(const JsonObject& body);

/// The text of the last user message that has any, its parts joined by LF. kInvalidArgument: no messages, or none with text.
Result<std::string> question_of(const JsonObject& body);

/// Builds the messages for the model:
/// 1. the system text, followed by the client's own;
/// 2. as many of the latest whole turns as the budget allows;
/// 3. the last user message, with its text replaced and its other parts kept;
/// 4. what follows it.
/// With `without_client_texts`, only 1 (without the client's text) and 3. REQUIRES: question_of(body) gave a question.
JsonArray grounded_messages(const JsonObject& body, const proxy::GroundedPrompt& prompt);

/// [{"type":"url_citation","url_citation":{"start_index","end_index","url","title"}}]
JsonArray render_annotations(const std::vector<answer::MarkerScan::Mark>& marks, std::span<const proxy::Source> sources);

/// Rewrites a whole upstream completion: sets the client's name for the model and annotates each message. A message that recites `unspoken`
/// (see answer/echo_guard.h) is cut there, with the finish_reason "content_filter"; so is one that repeats itself (answer/loop_guard.h),
/// before the piece that completes the loop.
void restore_completion(JsonObject& completion, std::string_view model, std::span<const proxy::Source> sources,
                        std::string_view unspoken = {});

/// Fields shared by all chunks of one stream.
struct ChunkHead {
  std::string id;
  std::int64_t created = 0;
  std::string model;
};
/// A new id "chatcmpl-..." and the current time.
ChunkHead fresh_chunk_head(std::string_view model);
JsonObject render_chunk(const ChunkHead& head, JsonObject delta, const Json& finish_reason = nullptr);

/// Rewrites the upstream's chunks with the client's name for the model; sends annotations in a chunk of their own before the one that
/// finishes their message.
class ChunkRestorer {
 public:
  /// Answers that recite `unspoken` are cut there, as in restore_completion.
  ChunkRestorer(std::string model, std::vector<proxy::Source> sources, std::string unspoken = {})
      : model_(std::move(model)), sources_(std::move(sources)), unspoken_(std::move(unspoken)) {}

  /// The chunks to send in place of `chunk`: itself, possibly preceded by another.
  std::vector<JsonObject> restore(JsonObject chunk);
  /// True once a choice was finished.
  bool finished() const { return finished_; }
  /// True once a choice was finished here because it repeats itself: the upstream has nothing more to say about it.
  bool cut() const { return cut_; }

  static constexpr std::size_t kChoicesMax = 16;

 private:
  struct Choice {
    answer::MarkerScan scan;
    answer::EchoGuard guard;
    answer::LoopGuard loop = {};
    bool cut = false;
  };
  void take_choice(JsonObject& choice, const JsonObject& chunk, std::vector<JsonObject>& out);

  const std::string model_;
  const std::vector<proxy::Source> sources_;
  const std::string unspoken_;
  std::map<std::int64_t, Choice> choices_;  // by the choice's index
  bool finished_ = false;
  bool cut_ = false;
};

/// Whether an upstream answer says that the model does not exist.
bool says_no_such_model(int status, std::string_view body);

/// Whether the body is {"error":{...}} in OpenAI's format.
bool is_openai_error(std::string_view body);

}  // namespace footnote::api
