#include "api/kb_wire.h"
#include "api/widget_access.h"
#include "api/widget_handlers.h"
#include "base/page_url.h"
#include "base/text.h"
#include "base/waiting.h"
#include "http/forwarded.h"

namespace footnote::api::widget {

namespace {

/// How long a resumed reader waits before it checks whether its client is still connected.
constexpr std::chrono::milliseconds kResumeStep{500};

/// The agent's corpora, each with its calibrated gate. Deleted ones are skipped.
WidgetResult<std::vector<retrieve::SearchedCorpus>> corpora_of(const WidgetServices& services, const CallContext& call,
                                                               const PublishedAgent& agent) {
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

struct Asked {
  Visitor visitor;
  answer::VisitorQuestion question;
  Share share;
};

/// Sets `wait` if a limit was reached.
WidgetResult<Asked> asked_of(const WidgetServices& services, const http::Request& request, const CallContext& call,
                             std::optional<std::chrono::seconds>& wait) {
  auto visitor = visitor_of(services, request, call);
  if (!visitor) return WidgetRefusal(visitor.error());
  auto message = parse_message(request);
  if (!message) return unreadable(message.error());
  wait = services.door.messages.count(visitor->claims.visitor.value, services.clock.now());
  if (!wait) wait = services.door.messages_of_address.count(http::client_network(request.remote_address), services.clock.now());
  if (wait) return refused(429, "message_quota_exceeded", "too many messages; try again in a moment");
  auto share = share_of(services, request, visitor->claims.visitor);
  if (!share) return WidgetRefusal(share.error());
  auto corpora = corpora_of(services, call, visitor->agent);
  if (!corpora) return WidgetRefusal(corpora.error());
  // Ignore a page URL outside the visitor's origin: the widget can't be on that page.
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

JsonArray citations_of(const WidgetServices& services, const CallContext& call, const Turn& turn) {
  const auto* answer = std::get_if<Answer>(&turn.outcome);
  if (answer == nullptr) return {};
  CitedTexts texts(call, services.chunks, turn.workspace);
  return render_visitor_citations(*answer, texts);
}

http::Headers stream_headers(const http::Request& request) {
  http::Headers headers;
  allow_origin(request, headers);
  return headers;
}

/// Forwards a turn's events to its readers. The turn continues when the first reader leaves: another may resume.
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
  Result<void> on_progress(answer::Progress progress) override {
    send({{"event", "stage"}, {"stage", answer::to_string(progress)}});
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

/// Counts a stream's reader until the handler is done or the client disconnects.
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

/// The turn's own call context: it outlives its first reader, and is cancelled through the stream.
CallContext call_of_turn(const CallContext& call, const LiveStream& stream) {
  CallContext out = call.detached(kVisitorAnswerTimeout);
  out.stop = stream.cancelled();
  return out;
}

std::uint64_t last_event_id(const http::Request& request) {
  return parse_whole_number<std::uint64_t>(trim(request.headers.find("last-event-id").value_or(""))).value_or(0);
}

}  // namespace

http::Response answer_message(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  std::optional<std::chrono::seconds> wait;
  const auto asked = asked_of(services, request, call, wait);
  if (!asked) return answer_refusal(request, asked.error(), wait);
  answer::SilentListener listener;
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
    // The turn is stored: this only serves current readers.
    const CallContext after = own.detached(std::chrono::seconds(10));
    listener.send({{"event", "citations"}, {"citations", citations_of(services, after, report->turn)}});
    listener.send(render_done(*report));
  } else {
    listener.send(render_stream_error(report.error()));
  }
  stream->end();
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
  const Waiting waiting;  // This thread only waits; another one writes the answer.
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

http::Response stop_message(const WidgetServices& services, const http::Request& request, const CallContext&) {
  const auto claims = claims_of(services, request);
  if (!claims) return answer_refusal(request, claims.error());
  // A turn that ended or never existed counts as stopped.
  if (const auto stream = services.door.streams.find({std::string(request.param("id"))}, claims->conversation)) stream->stop();
  return with_origin(request, {.status = 204, .headers = {}, .body = {}});
}

}  // namespace footnote::api::widget
