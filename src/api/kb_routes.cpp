#include "api/kb_routes.h"

#include <utility>

#include "answer/visitor_texts.h"
#include "api/kb_conversation.h"
#include "api/kb_filters.h"
#include "api/kb_ingest.h"
#include "api/kb_search.h"
#include "api/kb_wire.h"
#include "api/live_reply.h"
#include "api/ui_message_stream.h"

namespace footnote::api {

namespace {

constexpr std::size_t kQuestionBodyBytesMax = 1 << 20;
constexpr std::size_t kIngestBodyBytesMax = 32 << 20;
constexpr std::chrono::minutes kAnswerTimeout{2};
constexpr std::chrono::minutes kIngestTimeout{10};
/// For what is left to do when the last text is out.
constexpr std::chrono::seconds kAfterTimeout{10};

/// A question with its place in a conversation, if it belongs to one.
struct ParsedTurn {
  AskedFor asked;
  answer::Question question;
  std::optional<ConversationTurn> place;
};

/// Finds the corpora that are asked. Those that do not exist are only named: a question to none is refused, like one that is not covered.
/// The command line gets kNotFound, which says which corpora there are.
Result<void> find_corpora(const Services& services, const access::Caller& caller, const KbQuestion& asked, const CallContext& call,
                          ParsedTurn& out) {
  const Profile& door = asked.as_ask ? kAskProfile : services.kb_profile;
  for (const std::string& name : asked.corpus_names) {
    const auto found = services.corpora.find(call, caller.workspace, name, door);
    if (!found && found.error().code == ErrorCode::kNotFound && !asked.as_ask) {
      out.asked.unknown_corpora.push_back(name);
      continue;
    }
    if (!found) return std::unexpected(found.error());
    out.asked.corpora.emplace(found->corpus.id, name);
    if (out.question.corpus) {
      out.question.more_corpora.push_back({found->corpus.id, found->profile});
    } else {
      out.question.corpus = found->corpus.id;
      out.question.profile = found->profile;
    }
  }
  return {};
}

Result<ParsedTurn> parse_turn(const Services& services, const access::Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(KbQuestion asked, parse_kb_question(request));
  FOOTNOTE_CHECK(apply_labels(caller, asked.filter));
  ParsedTurn out;
  if (!asked.conversation.empty() && services.chats) {
    FOOTNOTE_TRY(out.place, ConversationTurn::begin(*services.chats, caller, asked, call));
    if (!asked.names_corpus && !out.place->chat().project_keys.empty()) asked.corpus_names = out.place->chat().project_keys;
    out.question.conversation = out.place->id();
    out.question.history = out.place->history();
  }
  out.question.workspace = caller.workspace;
  FOOTNOTE_CHECK(find_corpora(services, caller, asked, call, out));
  out.question.language =
      answer::visitor_language({.locale = asked.locale, .accept_language = asked.accept_language, .question = asked.text});
  out.question.text = std::move(asked.text);
  out.question.stored = !asked.anonymous;
  if (services.mentions_boost) out.question.mentioned = std::exchange(asked.filter.documents, {});
  out.question.filter = std::move(asked.filter);
  out.asked.filters = std::move(asked.filters);
  return out;
}

std::string_view text_of(const Turn& turn) {
  return std::visit([](const auto& each) -> std::string_view { return each.text; }, turn.outcome);
}

void store_answer(const ParsedTurn& turn, const answer::TurnReport& report, const CallContext& call) {
  if (!turn.place || text_of(report.turn).empty()) return;
  JsonObject meta = render_meta(report, turn.asked);
  meta.erase("retrieval_runner_up");  // of use while the answer is new
  if (const auto* answer = std::get_if<Answer>(&report.turn.outcome)) meta["uncited"] = render_uncited(*answer);
  turn.place->finish(call, report.turn.id, text_of(report.turn), meta);
}

Result<http::Response> chat(const Services& services, const access::Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const ParsedTurn turn, parse_turn(services, caller, request, call));
  answer::SilentListener listener;
  FOOTNOTE_TRY(const auto report, services.answers.answer(call, turn.question, listener));
  store_answer(turn, report, call);
  CitedTexts texts(call, services.chunks, caller.workspace);
  Json out = render_kb_answer(report, turn.asked, texts);
  if (turn.place) out.as_object()["conversation_id"] = turn.place->id().value;
  return http::Response::json(200, out);
}

/// Ends with the client's connection.
void stream_alone(const Services& services, const access::Caller& caller, const ParsedTurn& turn, const CallContext& call,
                  http::ResponseStream& response) {
  DirectUiChunks out(response);
  UiMessageStream stream(out, turn.question.language);
  const auto report = services.answers.answer(call, turn.question, stream);
  if (!report && !stream.is_open()) return response.reply(render_error(report.error()));
  // A failed send means that the client disconnected; nothing can be sent.
  if (!report) return report.error().code == ErrorCode::kCancelled ? void() : stream.fail_with(report.error());
  CitedTexts texts(call, services.chunks, caller.workspace);
  (void)stream.finish(*report, texts);
}

/// Lives on without a reader for a while, and can be resumed and stopped.
void stream_in_conversation(const Services& services, const access::Caller& caller, ParsedTurn turn, const CallContext& call,
                            http::ResponseStream& response) {
  const auto live = std::make_shared<LiveStream>(stream_scope(caller.workspace, turn.place->id()), LiveStream::kWholeBytesMax);
  turn.question.stopped = live->stopped();
  const Reading reading(live, call.stop);
  LiveReply reply(services.chats->streams, live, response, ui_stream_headers());
  LiveUiChunks out(reply);
  UiMessageStream stream(out, turn.question.language, turn.place->about());
  const CallContext own = call_of_turn(call, *live, kAnswerTimeout);
  const auto report = services.answers.answer(own, turn.question, stream);
  if (!stream.is_open()) {
    live->end();
    return response.reply(render_error(report ? Error{ErrorCode::kInternal, "the stream did not open", {}} : report.error()));
  }
  const CallContext after = own.detached(kAfterTimeout);
  if (report) {
    store_answer(turn, *report, after);
    CitedTexts texts(after, services.chunks, caller.workspace);
    (void)(live->stopped().stop_requested() ? stream.abort() : stream.finish(*report, texts));
  } else {
    // The turn kept what had been shown.
    if (!stream.text().empty()) turn.place->finish(after, stream.turn(), stream.text(), {{"turn_id", stream.turn().value}});
    live->cancelled().stop_requested() ? (void)stream.abort() : stream.fail_with(report.error());
  }
  live->end();
}

void chat_stream(const Services& services, const access::Caller& caller, const http::Request& request, const CallContext& call,
                 http::ResponseStream& response) {
  auto turn = parse_turn(services, caller, request, call);
  if (!turn) return response.reply(render_error(turn.error()));
  if (turn->place) return stream_in_conversation(services, caller, *std::move(turn), call, response);
  stream_alone(services, caller, *turn, call, response);
}

}  // namespace

std::vector<Route> make_kb_routes(const Services& services) {
  using http::Method;
  const auto stream = [services](const access::Caller& caller, const http::Request& request, const CallContext& call,
                                 http::ResponseStream& response) { chat_stream(services, caller, request, call, response); };
  const Access read = Access::with(KeyScope::kRead);
  return {
      {.access = read,
       .method = Method::kPost,
       .pattern = "/api/kb/chat",
       .handler = bind(services, chat),
       .lane = http::Lane::kWaitingWorker,
       .body_bytes_max = kQuestionBodyBytesMax,
       .timeout = kAnswerTimeout,
       .summary = "Ask a question: a cited answer, or a typed refusal"},
      {.access = read,
       .method = Method::kPost,
       .pattern = "/api/kb/chat/stream",
       .handler = StreamHandler(stream),
       .lane = http::Lane::kWaitingWorker,
       .body_bytes_max = kQuestionBodyBytesMax,
       .timeout = kAnswerTimeout,
       .summary = "The same as a stream (AI SDK UI messages)"},
      {.access = Access::with(KeyScope::kIngest),
       .method = Method::kPost,
       .pattern = "/api/kb/ingest",
       .handler = bind(services, ingest_documents),
       .body_bytes_max = kIngestBodyBytesMax,
       .timeout = kIngestTimeout,
       .summary = "Add or replace documents"},
      {.access = read,
       .method = Method::kPost,
       .pattern = "/api/search",
       .handler = bind(services, search),
       .body_bytes_max = kQuestionBodyBytesMax,
       .summary = "The passages found, with every stage's score"},
  };
}

}  // namespace footnote::api
