#include "api/grounded_chat.h"

#include "api/error_mapping.h"
#include "api/kb_wire.h"
#include "base/text.h"
#include "http/sse_parser.h"
#include "prompt/proxy_prompt.h"

namespace footnote::api {

namespace {

constexpr std::string_view kNothingFound = "I could not find an answer to this in the documents.";
/// Of an upstream's error that is looked at and passed on.
constexpr std::size_t kErrorBytesMax = 256 << 10;
constexpr std::size_t kCompletionBytesMax = 32 << 20;
/// Of a whole completion where a stream was asked for: it is read on the I/O thread, which others wait for.
constexpr std::size_t kUnaskedBytesMax = 4 << 20;

/// What the upstream is to be asked, or that it is not to be.
struct Prepared {
  JsonObject body;
  std::vector<proxy::Source> sources;
  bool refused = false;
};

Result<Prepared> prepare(const GroundedChat& chat) {
  const proxy::Policy& policy = chat.services.policy;
  Prepared out{.body = chat.ask.body, .sources = {}};
  FOOTNOTE_TRY(const std::string question, question_of(chat.ask.body));
  if (!policy.enabled) return out;
  FOOTNOTE_TRY(proxy::Found found, chat.services.finder.find(chat.call, chat.caller.workspace, chat.target, question));
  if (policy.no_hits == proxy::NoHits::kRefuse && !found.grounded) {
    out.refused = true;
    return out;
  }
  if (found.sources.empty()) return out;
  const std::string_view system = chat.target.system.empty() ? prompt::kProxySystem : std::string_view(chat.target.system);
  out.body["messages"] = grounded_messages(chat.ask.body, question, found.sources, policy, system);
  out.sources = std::move(found.sources);
  return out;
}

/// Chunks of an answer that this program makes.
class OwnChunks {
 public:
  OwnChunks(ChunkSink& sink, std::string_view model) : sink_(sink), head_(fresh_chunk_head(model)) {}

  Result<void> text(std::string_view text) {
    JsonObject delta;
    if (!std::exchange(started_, true)) delta["role"] = "assistant";
    delta["content"] = text;
    return sink_.take(render_chunk(head_, std::move(delta)));
  }

  struct End {
    JsonArray annotations = {};
    JsonObject footnote = {};
    std::int64_t prompt_tokens = 0;
    std::int64_t completion_tokens = 0;
  };
  Result<void> finish(End end, bool with_usage) {
    if (!end.annotations.empty()) {
      FOOTNOTE_CHECK(sink_.take(render_chunk(head_, JsonObject{{"annotations", std::move(end.annotations)}})));
    }
    JsonObject last = render_chunk(head_, JsonObject{}, "stop");
    if (!end.footnote.empty()) last["footnote"] = std::move(end.footnote);
    FOOTNOTE_CHECK(sink_.take(last));
    if (with_usage) {
      JsonObject usage = render_chunk(head_, JsonObject{});
      usage["choices"] = JsonArray{};
      usage["usage"] = JsonObject{{"prompt_tokens", end.prompt_tokens},
                                  {"completion_tokens", end.completion_tokens},
                                  {"total_tokens", end.prompt_tokens + end.completion_tokens}};
      FOOTNOTE_CHECK(sink_.take(usage));
    }
    return sink_.finish();
  }

 private:
  ChunkSink& sink_;
  const ChunkHead head_;
  bool started_ = false;
};

/// Whoever reads the answer whole always hears of usage; a stream's reader when it asked.
bool wants_usage(const ChatAsk& ask) { return !ask.stream || ask.include_usage; }

void refuse(const GroundedChat& chat, ChunkSink& sink) {
  OwnChunks chunks(sink, chat.ask.model);
  // An error of these is a client that left.
  if (!chunks.text(kNothingFound)) return;
  (void)chunks.finish({.footnote = {{"refusal_reason", to_string(RefusalReason::kNoRelevantContext)}}}, wants_usage(chat.ask));
}

/// A turn of this program's own as chunks.
class TurnChunks final : public answer::TurnListener {
 public:
  TurnChunks(ChunkSink& sink, std::string_view model) : chunks_(sink, model) {}

  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock> sources) override {
    for (const SourceBlock& block : sources) {
      const Hit& hit = block.hit;
      sources_.push_back({hit.document.url.empty() ? hit.document_key : hit.document.url, hit.document.title, {}});
    }
    return {};
  }
  Result<void> on_text(std::string_view text) override { return chunks_.text(text); }

  Result<void> finish(const answer::TurnReport& report, bool with_usage) {
    OwnChunks::End end{.prompt_tokens = report.prompt_tokens, .completion_tokens = report.completion_tokens};
    end.footnote["turn_id"] = report.turn.id.value;
    if (const auto* refusal = std::get_if<Refusal>(&report.turn.outcome)) {
      FOOTNOTE_CHECK(chunks_.text(refusal->text));
      end.footnote["refusal_reason"] = to_string(refusal->reason);
    } else if (const auto* answer = std::get_if<Answer>(&report.turn.outcome)) {
      MarkerScan scan(sources_.size());
      scan.feed(answer->text);
      end.annotations = render_annotations(scan.marks(), sources_);
    }
    return chunks_.finish(std::move(end), with_usage);
  }

 private:
  OwnChunks chunks_;
  std::vector<proxy::Source> sources_;
};

Result<void> answer_here(const GroundedChat& chat, ChunkSink& sink) {
  FOOTNOTE_TRY(const std::string question, question_of(chat.ask.body));
  const ProxyServices& services = chat.services;
  FOOTNOTE_TRY(const retrieve::AskedCorpus found,
               services.corpora.find(chat.call, chat.caller.workspace, chat.target.corpus, kKnowledgeBaseProfile));
  const answer::Question asked{.workspace = chat.caller.workspace, .corpus = found.corpus.id, .text = question, .profile = found.profile};
  TurnChunks turn(sink, chat.ask.model);
  FOOTNOTE_TRY(const auto report, services.answers.answer(chat.call, asked, turn));
  (void)turn.finish(report, wants_usage(chat.ask));  // an error is a client that left: the turn is stored
  return {};
}

/// What is made of an upstream's good answer, or said when there is none.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  virtual void on_head(const http::Headers& headers) = 0;
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// The end of the body.
  virtual void on_complete() = 0;
  virtual void on_failure(const Error& error) = 0;
  /// The upstream's own error.
  virtual void on_refusal(http::Response refusal) = 0;
};

/// Asks the upstream, under the model's second name where it does not know the first. What is not 200 is kept here. Borrows nothing of the
/// chat: it may outlive it.
class UpstreamAsk final : public http::Relay {
 public:
  UpstreamAsk(const GroundedChat& chat, JsonObject body, std::unique_ptr<AnswerReader> reader)
      : template_(upstream_request(*chat.services.upstream, chat.caller, chat.request, "/chat/completions", {}, AnswerUse::kRead)),
        body_(std::move(body)),
        fallback_(chat.target.fallback),
        reader_(std::move(reader)) {}

  http::ClientRequest request_for(std::string_view model) {
    body_["model"] = model;
    http::ClientRequest out = template_;
    out.body = to_text(body_);
    return out;
  }

  Result<void> on_head(int status, const http::Headers& headers) override {
    status_ = status;
    headers_ = headers;
    error_.clear();
    if (good()) reader_->on_head(headers);
    return {};
  }

  Result<void> on_body(std::string_view bytes) override {
    if (good()) return reader_->on_body(bytes);
    error_ += bytes.substr(0, kErrorBytesMax - std::min(kErrorBytesMax, error_.size()));
    return {};
  }

  std::optional<http::ClientRequest> on_end(const Result<int>& ended) override {
    if (!ended) {
      reader_->on_failure(upstream_failure(ended.error()));
    } else if (good()) {
      reader_->on_complete();
    } else if (!fallback_.empty() && says_no_such_model(status_, error_)) {
      return request_for(std::exchange(fallback_, {}));
    } else {
      reader_->on_refusal(error_answer(status_, headers_, error_));
    }
    return std::nullopt;
  }

 private:
  bool good() const { return status_ == 200; }

  const http::ClientRequest template_;
  JsonObject body_;
  std::string fallback_;
  const std::unique_ptr<AnswerReader> reader_;
  int status_ = 0;
  http::Headers headers_;
  std::string error_;
};

/// Reads an upstream's stream into a sink. An upstream that answers a request for a stream with a whole completion is read too.
class ChunkStream final : public AnswerReader {
 public:
  ChunkStream(const GroundedChat& chat, std::vector<proxy::Source> sources, std::unique_ptr<ChunkSink> sink)
      : restorer_(chat.ask.model, std::move(sources)), sink_(std::move(sink)) {}

  void on_head(const http::Headers& headers) override {
    is_stream_ = starts_with_ignoring_case(headers.find("content-type").value_or(""), "text/event-stream");
    sink_->begin(answer_headers(headers));
  }

  Result<void> on_body(std::string_view bytes) override {
    if (!is_stream_) {
      if (whole_.size() + bytes.size() > kUnaskedBytesMax) return fail(ErrorCode::kTooLarge, "more than {} bytes", kUnaskedBytesMax);
      whole_ += bytes;
      return {};
    }
    FOOTNOTE_TRY(const auto events, parser_.feed(bytes));
    for (const http::SseEvent& event : events) FOOTNOTE_CHECK(take(event.data));
    return {};
  }

  void on_complete() override {
    if (const auto finished = finish(); !finished) tell_error(*sink_, upstream_failure(finished.error()));
  }
  void on_failure(const Error& error) override {
    if (!told_) tell_error(*sink_, error);
  }
  void on_refusal(http::Response refusal) override {
    sink_->begin(std::move(refusal.headers));
    sink_->fail_with(refusal.status, parse_json(refusal.body)->get_object());
  }

 private:
  Result<void> finish() {
    if (!is_stream_) FOOTNOTE_CHECK(take_whole());
    if (told_) return {};
    if (!done_ && !restorer_.finished()) return fail(ErrorCode::kUnavailable, "it broke off in the middle of its answer");
    return sink_->finish();
  }

  Result<void> take(std::string_view data) {
    if (done_ || told_) return {};
    if (data == "[DONE]") {
      done_ = true;
      return {};
    }
    auto chunk = parse_json(data);
    if (!chunk || !chunk->is_object()) return fail(ErrorCode::kUnavailable, "it sent a chunk that can't be read");
    return take_chunk(std::move(chunk->get_object()));
  }

  Result<void> take_chunk(JsonObject chunk) {
    if (const Json* error = chunk.if_contains("error"); error != nullptr && error->is_object()) {
      told_ = true;
      sink_->fail_with(502, chunk);
      return {};
    }
    for (const JsonObject& restored : restorer_.restore(std::move(chunk))) FOOTNOTE_CHECK(sink_->take(restored));
    return {};
  }

  /// A whole completion as one chunk.
  Result<void> take_whole() {
    auto value = parse_json(whole_);
    if (!value || !value->is_object()) return fail(ErrorCode::kUnavailable, "it sent what is no completion");
    JsonObject& completion = value->get_object();
    Json* choices = completion.if_contains("choices");
    if (choices != nullptr && choices->is_array()) {
      for (Json& choice : choices->get_array()) {
        if (!choice.is_object() || !choice.get_object().contains("message")) continue;
        Json message = std::move(choice.get_object()["message"]);
        choice.get_object().erase("message");
        choice.get_object()["delta"] = std::move(message);
      }
    }
    completion["object"] = "chat.completion.chunk";
    return take_chunk(std::move(completion));
  }

  ChunkRestorer restorer_;
  const std::unique_ptr<ChunkSink> sink_;
  http::SseParser parser_;
  bool is_stream_ = true;
  std::string whole_;
  bool done_ = false;
  bool told_ = false;  // an error was passed on to the client: there is nothing more to say
};

/// Reads an upstream's whole completion and passes it on under the client's name for the model.
class CompletionReader final : public AnswerReader {
 public:
  CompletionReader(const GroundedChat& chat, std::vector<proxy::Source> sources, http::ResponseStream& response)
      : model_(chat.ask.model), sources_(std::move(sources)), response_(response) {}

  void on_head(const http::Headers& headers) override { headers_ = answer_headers(headers); }
  Result<void> on_body(std::string_view bytes) override {
    if (body_.size() + bytes.size() > kCompletionBytesMax) return fail(ErrorCode::kTooLarge, "more than {} bytes", kCompletionBytesMax);
    body_ += bytes;
    return {};
  }
  void on_complete() override {
    auto completion = parse_json(body_);
    if (!completion || !completion->is_object()) {
      return on_failure(upstream_failure({ErrorCode::kUnavailable, "it sent what is no completion", {}}));
    }
    restore_completion(completion->get_object(), model_, sources_);
    http::Response out = http::Response::json(200, *completion);
    for (const auto& [name, value] : headers_) {
      if (!out.headers.contains(name)) out.headers.add(name, value);
    }
    response_.reply(std::move(out));
  }
  void on_failure(const Error& error) override { response_.reply(render_openai_error(error)); }
  void on_refusal(http::Response refusal) override { response_.reply(with_openai_headers(std::move(refusal))); }

 private:
  const std::string model_;
  const std::vector<proxy::Source> sources_;
  http::ResponseStream& response_;
  http::Headers headers_;
  std::string body_;
};

/// The client's wish for usage is its own; a sink that collects wants it always.
void ask_for_stream(JsonObject& body, const ChatAsk& ask) {
  body["stream"] = true;
  if (!wants_usage(ask)) return;
  Json& options = body["stream_options"];
  if (!options.is_object()) options = JsonObject{};
  options.get_object()["include_usage"] = true;
}

}  // namespace

Error no_such_model(std::string_view model) {
  return {
      ErrorCode::kNotFound,
      fmt::format("the model '{}' does not exist: no model server is configured (LLM_BASE_URL or LITELLM_BASE); rag/{} answers without one",
                  model, proxy::kBuiltInName),
      {}};
}

void answer_chunks(const GroundedChat& chat, std::unique_ptr<ChunkSink> sink, http::ResponseStream& response) {
  if (chat.target.kind == proxy::Target::Kind::kBuiltIn) {
    if (const auto answered = answer_here(chat, *sink); !answered) tell_error(*sink, answered.error());
    return;
  }
  if (!chat.services.upstream) return tell_error(*sink, no_such_model(chat.ask.model));
  auto prepared = prepare(chat);
  if (!prepared) return tell_error(*sink, prepared.error());
  if (prepared->refused) return refuse(chat, *sink);
  ask_for_stream(prepared->body, chat.ask);
  http::Client& client = chat.services.upstream->client;
  auto ask = std::make_unique<UpstreamAsk>(chat, std::move(prepared->body),
                                           std::make_unique<ChunkStream>(chat, std::move(prepared->sources), std::move(sink)));
  http::ClientRequest request = ask->request_for(chat.target.model);
  if (chat.ask.stream) return response.relay(client, std::move(request), std::move(ask));
  http::run_relay(chat.call, client, std::move(request), *ask);
}

void answer_whole(const GroundedChat& chat, http::ResponseStream& response) {
  if (!chat.services.upstream) return response.reply(render_openai_error(no_such_model(chat.ask.model)));
  auto prepared = prepare(chat);
  if (!prepared) return response.reply(render_openai_error(prepared.error()));
  if (prepared->refused) {
    WholeCompletion sink(response);
    return refuse(chat, sink);
  }
  UpstreamAsk ask(chat, std::move(prepared->body), std::make_unique<CompletionReader>(chat, std::move(prepared->sources), response));
  http::run_relay(chat.call, chat.services.upstream->client, ask.request_for(chat.target.model), ask);
}

}  // namespace footnote::api
