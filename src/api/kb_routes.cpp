#include "api/kb_routes.h"

#include "api/kb_filters.h"
#include "api/kb_ingest.h"
#include "api/kb_search.h"
#include "api/kb_wire.h"
#include "api/ui_message_stream.h"
#include "base/text.h"

namespace footnote::api {

namespace {

constexpr std::size_t kQuestionBodyBytesMax = 1 << 20;
constexpr std::size_t kIngestBodyBytesMax = 32 << 20;
constexpr std::chrono::minutes kAnswerTimeout{2};
constexpr std::chrono::minutes kIngestTimeout{10};

/// For answers that are sent whole.
class SilentListener final : public answer::TurnListener {
 public:
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
  Result<void> on_text(std::string_view) override { return {}; }
};

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
  SilentListener listener;
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
  // A failed send means that the client left after the last token: the turn is stored, nobody is left to tell.
  (void)stream.finish(*report, texts);
}

Result<std::int64_t> parse_number(std::string_view text, std::string_view field) {
  const auto value = parse_whole_number(text);
  if (value.value_or(-1) < 0) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' must be a whole number", field);
  return *value;
}

Result<http::Response> preview(const Services& services, const access::Caller& caller, const http::Request& request,
                               const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, parse_number(request.param("id"), "id"));
  FOOTNOTE_TRY(const std::int64_t version, parse_number(request.query_value("version").value_or("0"), "version"));
  FOOTNOTE_TRY(const DocumentText found, services.chunks.document_text(call, caller.workspace, {id}, static_cast<int>(version)));
  const Document& document = found.document;
  // To whoever may not name its labels a labelled document is not there.
  if (!document.attributes.acl_labels.empty() && !caller.may(KeyScope::kAdmin)) {
    return fail(ErrorCode::kNotFound, "there is no document {}", id);
  }
  return http::Response::json(200, JsonObject{{"document_id", document.id.value},
                                              {"version", document.version},
                                              {"title", document.attributes.title},
                                              {"source_path", document.key},
                                              {"url", document.attributes.url.empty() ? Json(nullptr) : Json(document.attributes.url)},
                                              {"media_type", document.attributes.media_type},
                                              {"text", found.text}});
}

Result<http::Response> corpora(const Services& services, const access::Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto found, services.catalog.corpora(call, caller.workspace));
  JsonArray out;
  for (const Corpus& corpus : found) {
    FOOTNOTE_TRY(const CorpusCounts counts, services.chunks.counts(call, corpus.id));
    out.push_back(JsonObject{{"name", corpus.name},
                             {"documents", counts.documents},
                             {"chunks", counts.chunks},
                             {"generation", corpus.generation},
                             {"model", corpus.space.model_id}});
  }
  return http::Response::json(200, JsonObject{{"corpora", std::move(out)}});
}

/// Passages of labelled documents keep their scores alone: to whoever may not name its labels such a document is not there.
Result<std::string> without_labelled(std::string_view trace) {
  FOOTNOTE_TRY(Json value, parse_json(trace));
  for (Json& candidate : value.as_object()["candidates"].as_array()) {
    JsonObject& fields = candidate.as_object();
    if (!fields.contains(answer::kTraceLabelled)) continue;
    for (const std::string_view name : {"document_id", "version", "title", "source_path", "first_line", "chunk_id"}) fields[name] = nullptr;
  }
  return to_text(value);
}

Result<http::Response> turn_trace(const Services& services, const access::Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(std::string trace, services.conversations.trace(call, caller.workspace, {std::string(request.param("id"))}));
  if (!caller.may(KeyScope::kAdmin) && trace.find(answer::kTraceLabelled) != std::string::npos) {
    FOOTNOTE_TRY(trace, without_labelled(trace));
  }
  return http::Response::text(200, "application/json", std::move(trace));
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
       .method = Method::kGet,
       .pattern = "/api/kb/documents/{id}/preview",
       .handler = bind(services, preview),
       .summary = "A document's text, as citations count in it"},
      {.access = read,
       .method = Method::kPost,
       .pattern = "/api/search",
       .handler = bind(services, search),
       .body_bytes_max = kQuestionBodyBytesMax,
       .summary = "The passages found, with every stage's score"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/corpora",
       .handler = bind(services, corpora),
       .summary = "What can be asked"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/turns/{id}/trace",
       .handler = bind(services, turn_trace),
       .summary = "How a turn came to its answer: stages, times, candidates and what cut them"},
  };
}

}  // namespace footnote::api
