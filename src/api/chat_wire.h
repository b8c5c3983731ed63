#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/echo_guard.h"
#include "base/json.h"
#include "proxy/policy.h"
#include "proxy/source_finder.h"

namespace footnote::api {

inline constexpr std::size_t kChatMessagesMax = 10'000;
inline constexpr std::size_t kModelNameBytesMax = 512;

/// A request for a chat completion: what is looked at, and the whole of it to pass on.
struct ChatAsk {
  std::string model;
  bool stream = false;
  bool include_usage = false;
  JsonObject body;
};

/// kInvalidArgument: no JSON object, or no model. Its other parts are looked at where they are needed.
Result<ChatAsk> parse_chat_ask(std::string_view body);

/// The text of the last message of role user that has any: its parts joined by LF. kInvalidArgument: no messages, none such.
Result<std::string> question_of(const JsonObject& body);

/// The messages with the sources put in: the system text (the client's own appended), earlier turns as far as the budget goes (whole
/// turns, the latest), the last user message with its text in the proxy's form and its other parts as they were, and what follows it.
/// With policy.seed_form the first and the third alone. REQUIRES: question_of(body) gave `question`.
JsonArray grounded_messages(const JsonObject& body, std::string_view question, std::span<const proxy::Source> sources,
                            const proxy::Policy& policy, std::string_view system);

/// Finds `[n]` and `[n, m]` in a text that comes in pieces.
class MarkerScan {
 public:
  explicit MarkerScan(std::size_t source_count) : source_count_(source_count) {}

  struct Mark {
    std::size_t source = 0;  ///< From 1.
    std::size_t begin = 0;   ///< In code points of the whole text; of the bracket.
    std::size_t end = 0;
  };
  void feed(std::string_view text);
  const std::vector<Mark>& marks() const { return marks_; }

  /// Further ones of one text are not noted.
  static constexpr std::size_t kMarksMax = 1'000;

 private:
  void take(char c);

  const std::size_t source_count_;
  std::size_t position_ = 0;  // code points before the next byte
  std::size_t open_at_ = 0;
  bool open_ = false;
  std::string inside_;
  std::vector<Mark> marks_;
};

/// [{"type":"url_citation","url_citation":{"start_index","end_index","url","title"}}]
JsonArray render_annotations(const std::vector<MarkerScan::Mark>& marks, std::span<const proxy::Source> sources);

/// A whole completion of the upstream under the client's name for the model, with annotations on each message. A message that recites
/// `unspoken` (see answer/echo_guard.h) ends there, with the finish_reason "content_filter".
void restore_completion(JsonObject& completion, std::string_view model, std::span<const proxy::Source> sources,
                        std::string_view unspoken = {});

/// What one stream of chunks is about.
struct ChunkHead {
  std::string id;
  std::int64_t created = 0;
  std::string model;
};
/// A fresh one: "chatcmpl-...", now.
ChunkHead fresh_chunk_head(std::string_view model);
JsonObject render_chunk(const ChunkHead& head, JsonObject delta, const Json& finish_reason = nullptr);

/// The upstream's chunks under the client's name for the model; annotations are told in a chunk of their own before the one that
/// finishes their message.
class ChunkRestorer {
 public:
  /// Answers that recite `unspoken` end there, as in restore_completion.
  ChunkRestorer(std::string model, std::vector<proxy::Source> sources, std::string unspoken = {})
      : model_(std::move(model)), sources_(std::move(sources)), unspoken_(std::move(unspoken)) {}

  /// What is to be sent in place of `chunk`: itself, or another before it.
  std::vector<JsonObject> restore(JsonObject chunk);
  /// A choice was finished.
  bool finished() const { return finished_; }

  static constexpr std::size_t kChoicesMax = 16;

 private:
  struct Choice {
    MarkerScan scan;
    answer::EchoGuard guard;
  };
  void take_choice(JsonObject& choice, const JsonObject& chunk, std::vector<JsonObject>& out);

  const std::string model_;
  const std::vector<proxy::Source> sources_;
  const std::string unspoken_;
  std::map<std::int64_t, Choice> choices_;  // by the choice's index
  bool finished_ = false;
};

/// An answer of the upstream that says it has no such model.
bool says_no_such_model(int status, std::string_view body);

/// {"error":{...}} of OpenAI's form.
bool is_openai_error(std::string_view body);

}  // namespace footnote::api
