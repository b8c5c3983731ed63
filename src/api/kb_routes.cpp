#include "api/kb_routes.h"

#include <charconv>

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

Result<ParsedTurn> parse_turn(const Services& services, const CallContext& call, const http::Request& request) {
  FOOTNOTE_TRY(KbQuestion asked, parse_kb_question(request));
  FOOTNOTE_TRY(const Corpus corpus,
               find_asked_corpus(call, services.catalog, services.workspace, services.embedder.space(), asked.corpus_name));
  answer::Question question{.workspace = services.workspace, .corpus = corpus.id, .text = asked.text, .profile = asked.profile};
  return ParsedTurn{std::move(asked), std::move(question)};
}

Result<http::Response> chat(const Services& services, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const ParsedTurn turn, parse_turn(services, call, request));
  SilentListener listener;
  FOOTNOTE_TRY(const auto report, services.answers.answer(call, turn.question, listener));
  CitedTexts texts(call, services.chunks, services.workspace);
  return http::Response::json(200, render_kb_answer(report, turn.asked.corpus_name, texts));
}

void chat_stream(const Services& services, const http::Request& request, const CallContext& call, http::ResponseStream& response) {
  const auto turn = parse_turn(services, call, request);
  if (!turn) return response.reply(render_error(turn.error()));
  UiMessageStream stream(response);
  const auto report = services.answers.answer(call, turn->question, stream);
  if (!report) return stream.fail_with(report.error());
  CitedTexts texts(call, services.chunks, services.workspace);
  // A failed send means that the client left after the last token: the turn is stored, nobody is left to tell.
  (void)stream.finish(*report, texts);
}

Result<std::int64_t> parse_number(std::string_view text, std::string_view field) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
    return fail_field(ErrorCode::kInvalidArgument, field, "'{}' must be a whole number", field);
  }
  return value;
}

Result<http::Response> preview(const Services& services, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, parse_number(request.param("id"), "id"));
  FOOTNOTE_TRY(const std::int64_t version, parse_number(request.query_value("version").value_or("0"), "version"));
  FOOTNOTE_TRY(const DocumentText found, services.chunks.document_text(call, services.workspace, {id}, static_cast<int>(version)));
  const Document& document = found.document;
  return http::Response::json(200, JsonObject{{"document_id", document.id.value},
                                              {"version", document.version},
                                              {"title", document.attributes.title},
                                              {"source_path", document.key},
                                              {"url", document.attributes.url.empty() ? Json(nullptr) : Json(document.attributes.url)},
                                              {"media_type", document.attributes.media_type},
                                              {"text", found.text}});
}

Result<http::Response> corpora(const Services& services, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto found, services.catalog.corpora(call, services.workspace));
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

Result<http::Response> turn_trace(const Services& services, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(std::string trace, services.conversations.trace(call, services.workspace, {std::string(request.param("id"))}));
  return http::Response::text(200, "application/json", std::move(trace));
}

/// A handler of the form that the table wants, from one that may fail.
http::Handler handler(const Services& services,
                      Result<http::Response> (*function)(const Services&, const http::Request&, const CallContext&)) {
  return [services, function](const http::Request& request, const CallContext& call) {
    auto response = function(services, request, call);
    return response ? *std::move(response) : render_error(response.error());
  };
}

}  // namespace

std::vector<http::Route> make_kb_routes(const Services& services) {
  using http::Method;
  const auto stream = [services](const http::Request& request, const CallContext& call, http::ResponseStream& response) {
    chat_stream(services, request, call, response);
  };
  return {
      {.method = Method::kPost,
       .pattern = "/api/kb/chat",
       .handler = handler(services, chat),
       .body_bytes_max = kQuestionBodyBytesMax,
       .timeout = kAnswerTimeout,
       .summary = "Ask a question: a cited answer, or a typed refusal"},
      {.method = Method::kPost,
       .pattern = "/api/kb/chat/stream",
       .handler = http::StreamHandler(stream),
       .body_bytes_max = kQuestionBodyBytesMax,
       .timeout = kAnswerTimeout,
       .summary = "The same as a stream (AI SDK UI messages)"},
      {.method = Method::kPost,
       .pattern = "/api/kb/ingest",
       .handler = handler(services, ingest_documents),
       .body_bytes_max = kIngestBodyBytesMax,
       .timeout = kIngestTimeout,
       .summary = "Add or replace documents"},
      {.method = Method::kGet,
       .pattern = "/api/kb/documents/{id}/preview",
       .handler = handler(services, preview),
       .summary = "A document's text, as citations count in it"},
      {.method = Method::kPost,
       .pattern = "/api/search",
       .handler = handler(services, search),
       .body_bytes_max = kQuestionBodyBytesMax,
       .summary = "The passages found, with every stage's score"},
      {.method = Method::kGet, .pattern = "/api/corpora", .handler = handler(services, corpora), .summary = "What can be asked"},
      {.method = Method::kGet,
       .pattern = "/api/turns/{id}/trace",
       .handler = handler(services, turn_trace),
       .summary = "How a turn came to its answer: stages, times, candidates and what cut them"},
  };
}

}  // namespace footnote::api
