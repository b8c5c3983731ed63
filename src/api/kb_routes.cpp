#include "api/kb_routes.h"

#include "api/kb_filters.h"
#include "api/kb_ingest.h"
#include "api/kb_search.h"
#include "api/kb_wire.h"
#include "api/ui_message_stream.h"

namespace footnote::api {

namespace {

constexpr std::size_t kQuestionBodyBytesMax = 1 << 20;
constexpr std::size_t kIngestBodyBytesMax = 32 << 20;
constexpr std::chrono::minutes kAnswerTimeout{2};
constexpr std::chrono::minutes kIngestTimeout{10};

struct ParsedTurn {
  KbQuestion asked;
  answer::Question question;
};

Result<ParsedTurn> parse_turn(const Services& services, const access::Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(KbQuestion asked, parse_kb_question(request));
  FOOTNOTE_CHECK(check_labels(caller, asked.filter));
  FOOTNOTE_TRY(const retrieve::AskedCorpus found, services.corpora.find(call, caller.workspace, asked.corpus_name, asked.profile));
  answer::Question question{
      .workspace = caller.workspace, .corpus = found.corpus.id, .text = asked.text, .filter = asked.filter, .profile = found.profile};
  return ParsedTurn{std::move(asked), std::move(question)};
}

Result<http::Response> chat(const Services& services, const access::Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const ParsedTurn turn, parse_turn(services, caller, request, call));
  answer::SilentListener listener;
  FOOTNOTE_TRY(const auto report, services.answers.answer(call, turn.question, listener));
  CitedTexts texts(call, services.chunks, caller.workspace);
  return http::Response::json(200, render_kb_answer(report, turn.asked.corpus_name, texts));
}

void chat_stream(const Services& services, const access::Caller& caller, const http::Request& request, const CallContext& call,
                 http::ResponseStream& response) {
  const auto turn = parse_turn(services, caller, request, call);
  if (!turn) return response.reply(render_error(turn.error()));
  UiMessageStream stream(response);
  const auto report = services.answers.answer(call, turn->question, stream);
  if (!report) return stream.fail_with(report.error());
  CitedTexts texts(call, services.chunks, caller.workspace);
  // A failed send means that the client disconnected after the last token; the turn is stored.
  (void)stream.finish(*report, texts);
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
