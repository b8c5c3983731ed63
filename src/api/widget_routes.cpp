#include "api/widget_routes.h"

#include "answer/visitor_texts.h"
#include "api/kb_wire.h"
#include "api/widget_wire.h"
#include "base/log.h"
#include "base/page_url.h"
#include "base/text.h"
#include "base/waiting.h"

namespace footnote::api {

namespace {

constexpr std::chrono::minutes kAnswerTimeout{2};
/// How long a reader that came back waits before it looks whether its client is still there.
constexpr std::chrono::milliseconds kResumeStep{500};

/// A value, or the error that the client gets.
template <class Value>
using Or = std::expected<Value, WidgetError>;
using Refused = std::unexpected<WidgetError>;

Refused refused(int status, std::string_view code, std::string message) { return Refused({status, code, std::move(message)}); }

Refused unreadable(const Error& error) { return refused(422, "invalid_request", error.message); }

/// Of a store that did not answer; its words are for the log.
Refused failed(const Error& error, const CallContext& call) {
  log(LogLevel::kError, "answer", "a visitor's request failed", call, {{"code", to_string(error.code)}, {"error", error.message}});
  return refused(503, "overloaded", "Please try again in a moment.");
}

/// The page may read the answer. No credentials: what counts is the token.
void allow_origin(const http::Request& request, http::Headers& headers) {
  if (const auto origin = request.headers.find("origin")) {
    headers.set("access-control-allow-origin", *origin);
    headers.set("access-control-expose-headers", "retry-after, x-request-id");
  }
}

http::Response with_origin(const http::Request& request, http::Response response) {
  allow_origin(request, response.headers);
  return response;
}

/// A page of an origin that may not use the agent can't read that it may not either.
http::Response answer_refusal(const http::Request& request, const WidgetError& error, std::optional<std::chrono::seconds> wait = {}) {
  http::Response response = render(error);
  if (error.status == 429 || error.status == 503) response.headers.set("retry-after", std::to_string(wait ? wait->count() : 1));
  if (error.status == 401) response.headers.set("www-authenticate", "Bearer realm=\"footnote\"");
  return error.status == 403 ? response : with_origin(request, std::move(response));
}

std::string_view bearer_of(const http::Request& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view value = request.headers.find("authorization").value_or("");
  return to_lower_ascii(value.substr(0, kBearer.size())) == kBearer ? trim(value.substr(kBearer.size())) : std::string_view{};
}

std::string_view host_of(const http::Request& request) { return request.headers.find("host").value_or(""); }

/// The draft, as if it were published, for whoever has the key of an admin.
Or<PublishedAgent> draft_of(const WidgetServices& services, const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  auto agent = services.agents.agent(call, workspace, id);
  if (!agent) {
    if (agent.error().code == ErrorCode::kNotFound) return refused(404, "agent_not_found", "there is no such agent");
    return failed(agent.error(), call);
  }
  return PublishedAgent{.id = agent->id,
                        .workspace = agent->workspace,
                        .name = agent->name,
                        .version = 0,
                        .settings = std::move(agent->draft),
                        .published_at = agent->updated_at};
}

Or<PublishedAgent> published(const WidgetServices& services, const CallContext& call, const AgentId& id) {
  auto agent = services.agents.published(call, id);
  if (agent) return *std::move(agent);
  if (agent.error().code == ErrorCode::kNotFound) return refused(404, "agent_not_found", "there is no such agent");
  return failed(agent.error(), call);
}

/// The playground is the owner's own page.
bool may_use(const PublishedAgent& agent, std::string_view origin, std::string_view host, bool playground) {
  return is_allowed_origin(agent.settings.allowed_origins, origin, host) || (playground && is_allowed_origin({}, origin, host));
}

// --- init

Or<PublishedAgent> agent_to_open(const WidgetServices& services, const http::Request& request, const CallContext& call,
                                 const InitRequest& asked) {
  if (!asked.playground) return published(services, call, asked.agent);
  const auto admitted = services.keys.admit(bearer_of(request));
  if (!admitted && services.keys.is_open()) return draft_of(services, call, services.home, asked.agent);
  if (!admitted || !admitted->caller.may(KeyScope::kAdmin))
    return refused(401, "invalid_token", "the playground needs the key of an admin");
  return draft_of(services, call, admitted->caller.workspace, asked.agent);
}

/// The visitor of an earlier token of the same agent and origin, or a new one.
VisitorClaims claims_for(const WidgetServices& services, const PublishedAgent& agent, const InitRequest& asked, std::string_view origin) {
  const UtcTime now = services.clock.now();
  VisitorClaims claims{.origin = to_lower_ascii(origin),
                       .workspace = agent.workspace,
                       .agent = agent.id,
                       .visitor = {"vis_" + random_base62(22)},
                       .conversation = {"conv_" + random_base62(22)},
                       .locale = asked.locale,
                       .playground = asked.playground,
                       .issued_at = now,
                       .expires_at = now + kVisitorTokenTime};
  const auto before = services.door.tokens.check_for_resume(asked.token, now);
  const bool is_same = before && before->agent == agent.id && before->workspace == agent.workspace && before->origin == claims.origin &&
                       before->playground == asked.playground;
  if (is_same) {
    claims.visitor = before->visitor;
    claims.conversation = before->conversation;
  }
  return claims;
}

Or<JsonObject> open_conversation(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  const auto asked = parse_init(request);
  if (!asked) return unreadable(asked.error());
  const auto agent = agent_to_open(services, request, call, *asked);
  if (!agent) return Refused(agent.error());
  const std::string_view origin = request.headers.find("origin").value_or("");
  if (!may_use(*agent, origin, host_of(request), asked->playground)) {
    return refused(403, "origin_forbidden", "this page may not use the agent: add its origin to the agent's allowed origins");
  }
  const VisitorClaims claims = claims_for(services, *agent, *asked, origin);
  auto turns = services.conversations.history(call, agent->workspace, claims.conversation, kResumedTurnsMax);
  // A conversation is there from its first turn on.
  if (!turns && turns.error().code == ErrorCode::kNotFound) turns = std::vector<Turn>{};
  if (!turns) return failed(turns.error(), call);
  CitedTexts texts(call, services.chunks, agent->workspace);
  const std::string language = answer::visitor_language({.agent = agent->settings.language_default,
                                                         .locale = asked->locale,
                                                         .accept_language = request.headers.find("accept-language").value_or("")});
  return JsonObject{
      {"conversation_id", claims.conversation.value},
      {"visitor_id", claims.visitor.value},
      {"token", services.door.tokens.issue(claims)},
      {"expires_at", to_rfc3339(claims.expires_at)},
      {"agent", render_agent(*agent, language)},
      {"limits", JsonObject{{"message_chars_max", kVisitorMessageCharsMax}, {"page_context_bytes_max", answer::kPageContextBytesMax}}},
      {"messages", render_messages(*turns, texts)}};
}

http::Response init(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  if (const auto asked = parse_init(request)) {
    if (const auto wait = services.door.inits.count(request.remote_address + " " + asked->agent.value, services.clock.now())) {
      return answer_refusal(request, {429, "message_quota_exceeded", "too many conversations were opened; try again later"}, wait);
    }
  }
  auto opened = open_conversation(services, request, call);
  if (!opened) return answer_refusal(request, opened.error());
  return with_origin(request, http::Response::json(200, *std::move(opened)));
}

// --- messages

/// Whoever sends a message, let in.
struct Visitor {
  VisitorClaims claims;
  PublishedAgent agent;
};

Or<VisitorClaims> claims_of(const WidgetServices& services, const http::Request& request) {
  const std::string_view token = bearer_of(request);
  if (token.empty()) return refused(401, "missing_token", "send the token of init as authorization: Bearer ...");
  auto claims = services.door.tokens.check(token, services.clock.now());
  if (!claims) return refused(401, "invalid_token", claims.error().message);
  // A browser names the origin of every request that another page makes; without it there is no page to tell apart.
  const auto origin = request.headers.find("origin");
  if (origin && to_lower_ascii(*origin) != claims->origin) return refused(403, "origin_forbidden", "the token is of another page");
  return *std::move(claims);
}

Or<Visitor> visitor_of(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  auto claims = claims_of(services, request);
  if (!claims) return Refused(claims.error());
  auto agent = claims->playground ? draft_of(services, call, claims->workspace, claims->agent) : published(services, call, claims->agent);
  if (!agent) return Refused(agent.error());
  if (agent->workspace != claims->workspace) return refused(404, "agent_not_found", "there is no such agent");
  if (!may_use(*agent, claims->origin, host_of(request), claims->playground)) {
    return refused(403, "origin_forbidden", "this page may not use the agent any more");
  }
  return Visitor{*std::move(claims), *std::move(agent)};
}

/// The agent's corpora, each with the gate that was measured for it. One that is gone is left out.
Or<std::vector<retrieve::SearchedCorpus>> corpora_of(const WidgetServices& services, const CallContext& call, const PublishedAgent& agent) {
  std::vector<retrieve::SearchedCorpus> out;
  for (const CorpusId id : agent.settings.corpora) {
    const auto corpus = services.catalog.corpus(call, id);
    if (!corpus && corpus.error().code != ErrorCode::kNotFound) return failed(corpus.error(), call);
    if (!corpus || corpus->workspace != agent.workspace) continue;
    const auto profile = services.asked.asked_as(*corpus, kVisitorProfile, retrieve::OtherModel::kWordsAlone);
    if (!profile) return failed(profile.error(), call);
    out.push_back({id, *profile});
  }
  if (out.empty()) return refused(404, "agent_not_found", "the agent has nothing to search");
  return out;
}

/// What one answer takes of its visitor's and its address's share, as long as it is written or read.
struct Share {
  UnderWay::Place of_visitor;
  UnderWay::Place of_address;
};

Or<Share> share_of(const WidgetServices& services, const http::Request& request, const VisitorId& visitor) {
  auto of_visitor = services.door.of_visitor.enter(visitor.value);
  auto of_address = services.door.of_address.enter(request.remote_address);
  if (!of_visitor || !of_address) return refused(429, "message_quota_exceeded", "too many answers at once; try again in a moment");
  return Share{*std::move(of_visitor), *std::move(of_address)};
}

struct Asked {
  Visitor visitor;
  answer::VisitorQuestion question;
  Share share;
};

/// Sets `wait` where a bound was reached.
Or<Asked> asked_of(const WidgetServices& services, const http::Request& request, const CallContext& call,
                   std::optional<std::chrono::seconds>& wait) {
  auto visitor = visitor_of(services, request, call);
  if (!visitor) return Refused(visitor.error());
  auto message = parse_message(request);
  if (!message) return unreadable(message.error());
  wait = services.door.messages.count(visitor->claims.visitor.value, services.clock.now());
  if (!wait) wait = services.door.messages_of_address.count(request.remote_address, services.clock.now());
  if (wait) return refused(429, "message_quota_exceeded", "too many messages; try again in a moment");
  auto share = share_of(services, request, visitor->claims.visitor);
  if (!share) return Refused(share.error());
  auto corpora = corpora_of(services, call, visitor->agent);
  if (!corpora) return Refused(corpora.error());
  // A page that the widget can't stand on is no page of this visitor.
  if (!visitor->claims.playground && origin_of(message->page_url) != visitor->claims.origin) message->page_url.clear();
  answer::VisitorQuestion question{.agent = visitor->agent,
                                   .corpora = *std::move(corpora),
                                   .visitor = visitor->claims.visitor,
                                   .conversation = visitor->claims.conversation,
                                   .text = std::move(message->text),
                                   .page_url = std::move(message->page_url),
                                   .page = std::move(message->page),
                                   .page_was_dropped = message->page_was_dropped,
                                   .locale = visitor->claims.locale,
                                   .accept_language = std::string(request.headers.find("accept-language").value_or("")),
                                   .playground = visitor->claims.playground};
  return Asked{*std::move(visitor), std::move(question), *std::move(share)};
}

/// For answers that are sent whole.
class SilentListener final : public answer::TurnListener {
 public:
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
  Result<void> on_text(std::string_view) override { return {}; }
};

JsonArray citations_of(const WidgetServices& services, const CallContext& call, const Turn& turn) {
  const auto* answer = std::get_if<Answer>(&turn.outcome);
  if (answer == nullptr) return {};
  CitedTexts texts(call, services.chunks, turn.workspace);
  return render_visitor_citations(*answer, texts);
}

http::Response message(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  std::optional<std::chrono::seconds> wait;
  const auto asked = asked_of(services, request, call, wait);
  if (!asked) return answer_refusal(request, asked.error(), wait);
  SilentListener listener;
  const auto report = services.visitors.answer(call, asked->question, listener);
  if (!report) {
    const JsonObject error = render_stream_error(report.error());
    return answer_refusal(request, {503, error.at("code").as_string().c_str(), std::string(error.at("message").as_string())});
  }
  const Turn& turn = report->turn;
  JsonObject done = render_done(*report);
  JsonObject data{{"message_id", turn.id.value},
                  {"conversation_id", turn.conversation.value},
                  {"content", std::visit([](const auto& each) { return each.text; }, turn.outcome)},
                  {"citations", citations_of(services, call, turn)},
                  {"confidence", done["confidence"]},
                  {"low_confidence", done["low_confidence"]},
                  {"latency_ms", done["latency_ms"]},
                  {"outcome", done["outcome"]}};
  return with_origin(request, http::Response::json(200, JsonObject{{"data", std::move(data)}}));
}

// --- streams

http::Headers stream_headers(const http::Request& request) {
  http::Headers headers;
  allow_origin(request, headers);
  return headers;
}

/// Tells a turn to whoever reads it. The turn goes on when the first reader leaves: another may come.
class StreamListener final : public answer::TurnListener {
 public:
  StreamListener(LiveStreams& streams, std::shared_ptr<LiveStream> stream, ConversationId conversation, http::ResponseStream& response,
                 http::Headers headers)
      : streams_(streams),
        stream_(std::move(stream)),
        conversation_(std::move(conversation)),
        response_(response),
        headers_(std::move(headers)) {}

  bool started() const { return writer_ != nullptr; }

  Result<void> on_start(const TurnId& turn) override {
    if (!streams_.add(turn, stream_)) return fail(ErrorCode::kResourceExhausted, "too many streams are open");
    writer_ = &response_.start_sse(headers_);
    if (!writer_->comment("ok")) is_read_ = false;
    send({{"event", "start"}, {"conversation_id", conversation_.value}, {"message_id", turn.value}});
    return {};
  }
  Result<void> on_stage(std::string_view stage) override {
    send({{"event", "stage"}, {"stage", stage}});
    return {};
  }
  Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
  Result<void> on_text(std::string_view text) override {
    send({{"event", "token"}, {"token", text}});
    return {};
  }

  void send(const JsonObject& event) {
    const LiveStream::Event numbered = stream_->push(to_text(event));
    if (is_read_ && !writer_->send_with_id(numbered.id, numbered.data)) is_read_ = false;
  }

 private:
  LiveStreams& streams_;
  const std::shared_ptr<LiveStream> stream_;
  const ConversationId conversation_;
  http::ResponseStream& response_;
  const http::Headers headers_;
  http::SseWriter* writer_ = nullptr;
  bool is_read_ = true;
};

/// A reader of a stream, counted as long as it is there: until the handler is done or the client left.
class Reading {
 public:
  Reading(std::shared_ptr<LiveStream> stream, const std::stop_token& left) : stream_(std::move(stream)) {
    stream_->reader_came();
    on_left_.emplace(left, Leave{this});
  }
  ~Reading() {
    on_left_.reset();
    leave();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  struct Leave {
    Reading* reading;
    void operator()() const { reading->leave(); }
  };
  void leave() {
    if (!has_left_.exchange(true)) stream_->reader_left();
  }

  const std::shared_ptr<LiveStream> stream_;
  std::atomic<bool> has_left_ = false;
  std::optional<std::stop_callback<Leave>> on_left_;
};

/// The turn's own call: it outlives its first reader, and ends by the stream's word.
CallContext call_of_turn(const CallContext& call, const LiveStream& stream) {
  CallContext out = call.detached(kAnswerTimeout);
  out.stop = stream.cancelled();
  return out;
}

void stream_message(const WidgetServices& services, const http::Request& request, const CallContext& call, http::ResponseStream& response) {
  std::optional<std::chrono::seconds> wait;
  auto asked = asked_of(services, request, call, wait);
  if (!asked) return response.reply(answer_refusal(request, asked.error(), wait));
  const auto stream = std::make_shared<LiveStream>(asked->question.conversation);
  asked->question.stopped = stream->stopped();
  const Reading reading(stream, call.stop);
  StreamListener listener(services.door.streams, stream, asked->question.conversation, response, stream_headers(request));
  const CallContext own = call_of_turn(call, *stream);
  const auto report = services.visitors.answer(own, asked->question, listener);
  if (!listener.started()) {
    stream->end();
    return response.reply(answer_refusal(request, {503, "overloaded", "Please try again in a moment."}));
  }
  if (report) {
    // The turn is stored: this is for whoever still reads.
    const CallContext after = own.detached(std::chrono::seconds(10));
    listener.send({{"event", "citations"}, {"citations", citations_of(services, after, report->turn)}});
    listener.send(render_done(*report));
  } else {
    listener.send(render_stream_error(report.error()));
  }
  stream->end();
}

std::uint64_t last_event_id(const http::Request& request) {
  return parse_whole_number<std::uint64_t>(trim(request.headers.find("last-event-id").value_or(""))).value_or(0);
}

void resume_stream(const WidgetServices& services, const http::Request& request, const CallContext& call, http::ResponseStream& response) {
  const auto claims = claims_of(services, request);
  if (!claims) return response.reply(answer_refusal(request, claims.error()));
  const auto stream = services.door.streams.find({std::string(request.param("id"))}, claims->conversation);
  std::uint64_t id = last_event_id(request);
  if (stream == nullptr || stream->after(id, std::chrono::milliseconds{0}).lost) {
    return response.reply(answer_refusal(request, {404, "message_not_found", "this stream is over"}));
  }
  const auto share = share_of(services, request, claims->visitor);
  if (!share) return response.reply(answer_refusal(request, share.error()));
  const Reading reading(stream, call.stop);
  http::SseWriter& writer = response.start_sse(stream_headers(request));
  if (!writer.comment("ok")) return;
  const Waiting waiting;  // for whoever writes the answer
  while (call.check()) {
    const LiveStream::Batch batch = stream->after(id, kResumeStep);
    if (batch.lost) return response.cut();
    for (const LiveStream::Event& event : batch.events) {
      if (!writer.send_with_id(event.id, event.data)) return;
      id = event.id;
    }
    if (batch.ended && batch.events.empty()) return;
  }
}

http::Response stop(const WidgetServices& services, const http::Request& request, const CallContext&) {
  const auto claims = claims_of(services, request);
  if (!claims) return answer_refusal(request, claims.error());
  // One that ended, or never was, is stopped already.
  if (const auto stream = services.door.streams.find({std::string(request.param("id"))}, claims->conversation)) stream->stop();
  return with_origin(request, {.status = 204, .headers = {}, .body = {}});
}

// --- feedback

Or<Feedback> parse_feedback(const http::Request& request) {
  const auto value = parse_request_json(request.body);
  if (!value) return unreadable(value.error());
  const auto body = JsonReader::of(*value);
  if (!body) return unreadable(body.error());
  const auto rating = body->required_string("rating", 16);
  if (!rating) return unreadable(rating.error());
  const auto reason = body->optional_string("reason", 4 * kFeedbackCharsMax);
  if (!reason) return unreadable(reason.error());
  const auto known = parse_rating(*rating);
  if (!known) return refused(422, "invalid_request", "'rating' is \"up\" or \"down\"");
  const Feedback feedback{.rating = *known, .reason = reason->value_or("")};
  if (const auto good = check_feedback(feedback); !good) return unreadable(good.error());
  return feedback;
}

http::Response rate(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  const auto claims = claims_of(services, request);
  if (!claims) return answer_refusal(request, claims.error());
  const auto feedback = parse_feedback(request);
  if (!feedback) return answer_refusal(request, feedback.error());
  if (const auto wait = services.door.messages.count(claims->visitor.value, services.clock.now())) {
    return answer_refusal(request, {429, "message_quota_exceeded", "too many messages; try again in a moment"}, wait);
  }
  const auto rated =
      services.conversations.rate_turn(call, claims->workspace, claims->visitor, {std::string(request.param("id"))}, *feedback);
  if (rated) return with_origin(request, {.status = 204, .headers = {}, .body = {}});
  if (rated.error().code == ErrorCode::kNotFound) {
    return answer_refusal(request, {404, "message_not_found", "there is no such message"});
  }
  return answer_refusal(request, failed(rated.error(), call).error());
}

http::Response render_widget_error(const Error& error) {
  const int status = status_of(error);
  return render({status, status == 503 || status == 429 ? "overloaded" : "invalid_request", error.message});
}

using Answer1 = http::Response (*)(const WidgetServices&, const http::Request&, const CallContext&);
using Stream1 = void (*)(const WidgetServices&, const http::Request&, const CallContext&, http::ResponseStream&);

Handler bound(const WidgetServices& services, Answer1 function) {
  return [services, function](const access::Caller&, const http::Request& request, const CallContext& call) -> Result<http::Response> {
    return function(services, request, call);
  };
}

StreamHandler bound(const WidgetServices& services, Stream1 function) {
  return [services, function](const access::Caller&, const http::Request& request, const CallContext& call,
                              http::ResponseStream& response) { function(services, request, call, response); };
}

}  // namespace

std::vector<Route> make_widget_routes(const WidgetServices& services) {
  using http::Method;
  const auto route = [](Method method, std::string_view path, std::variant<Handler, StreamHandler> handler, std::string summary,
                        http::Lane lane = http::Lane::kWorker) {
    return Route{.access = Access::anyone(),
                 .method = method,
                 .pattern = std::string(kWidgetPath) + std::string(path),
                 .handler = std::move(handler),
                 .lane = lane,
                 .body_bytes_max = kWidgetBodyBytesMax,
                 .timeout = kAnswerTimeout,
                 .summary = std::move(summary),
                 .error_form = render_widget_error,
                 .for_every_origin = true};
  };
  constexpr http::Lane kWaits = http::Lane::kWaitingWorker;
  return {route(Method::kPost, "init", bound(services, init), "Open or take up a visitor's conversation: a token for the rest"),
          route(Method::kPost, "messages", bound(services, message), "A visitor's message, answered whole", kWaits),
          route(Method::kPost, "messages/stream", bound(services, stream_message), "A visitor's message, answered as a stream", kWaits),
          route(Method::kGet, "messages/{id}/stream", bound(services, resume_stream), "Take a stream up again after Last-Event-ID", kWaits),
          route(Method::kPost, "messages/{id}/stop", bound(services, stop), "End an answer that is being written"),
          route(Method::kPost, "messages/{id}/feedback", bound(services, rate), "Thumbs up or down")};
}

}  // namespace footnote::api
