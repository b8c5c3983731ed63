#include "api/calibrate_routes.h"

#include "base/json.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kNameBytesMax = 200;
/// Enough for several hundred questions.
constexpr std::chrono::minutes kCalibrateTimeout{10};

JsonObject render(const Corpus& corpus, const Calibrated& made) {
  return {{"corpus", corpus.name},
          {"evidence_min", made.gate.evidence_min},
          {"wanted_rate", made.gate.wanted_rate},
          {"false_answer_rate", made.gate.false_answer_rate},
          {"answered_rate", made.gate.answered_rate},
          {"foreign_measured", made.foreign},
          {"own_measured", made.own},
          {"embedder", made.gate.embedder},
          {"judge", made.gate.judge},
          {"left_out", JsonArray(made.left_out.begin(), made.left_out.end())}};
}

struct Wanted {
  Corpus corpus;
  double rate = kFalseAnswerRateDefault;
};

Result<Wanted> parse(const CalibrateServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"corpus", "rate"}));
  FOOTNOTE_TRY(const std::string name, reader.required_string("corpus", kNameBytesMax));
  FOOTNOTE_TRY(const auto rate, reader.optional_number("rate", 0, kFalseAnswerRateMax));
  FOOTNOTE_TRY(Corpus corpus, services.catalog.find_corpus(call, caller.workspace, name));
  return Wanted{std::move(corpus), rate.value_or(kFalseAnswerRateDefault)};
}

Result<Calibrated> set_gate(const CalibrateServices& services, const CallContext& call, const Wanted& wanted,
                            const OnQuestion& on_question) {
  FOOTNOTE_TRY(Calibrated made, services.calibrate(call, wanted.corpus, wanted.rate, on_question));
  FOOTNOTE_CHECK(services.catalog.set_gate(call, wanted.corpus.id, made.gate));
  return made;
}

void calibrate(const CalibrateServices& services, const Caller& caller, const http::Request& request, const CallContext& call,
               http::ResponseStream& response) {
  const auto wanted = parse(services, caller, request, call);
  if (!wanted) return response.reply(render_error(wanted.error()));
  http::SseWriter* writer = nullptr;  // an error before the first question is a plain response
  const auto made = set_gate(services, call, *wanted, [&](std::size_t done, std::size_t total) {
    if (writer == nullptr) writer = &response.start_sse({});
    return writer->send(to_text(JsonObject{{"done", done}, {"total", total}}));
  });
  if (!made && writer == nullptr) return response.reply(render_error(made.error()));
  if (writer == nullptr) writer = &response.start_sse({});
  // A failed send means that the client disconnected; ignore it.
  (void)writer->send(made ? to_text(render(wanted->corpus, *made)) : render_error(made.error()).body);
}

/// Where the threshold and the scales come from.
std::string_view source_of(const GateCalibration* made, const GatePolicy& policy) {
  if (made != nullptr) return made->automatic ? "automatic" : "calibrated";
  return policy.calibrated ? "shipped" : "unknown";
}

Result<http::Response> show(const CalibrateServices& services, const Caller& caller, const http::Request& request,
                            const CallContext& call) {
  const std::string_view name = request.query_value("corpus").value_or(kDefaultCorpus);
  FOOTNOTE_TRY(const retrieve::AskedCorpus asked, services.corpora.find(call, caller.workspace, name, kAskProfile));
  const retrieve::QuestionModels models = services.corpora.models();
  const GateCalibration* made = asked.corpus.gate_for(models.judge);
  JsonObject out{{"corpus", asked.corpus.name},
                 {"source", source_of(made, asked.profile.gate)},
                 {"calibrated", asked.profile.gate.calibrated},
                 {"evidence_min", asked.profile.gate.probability_min},
                 {"read_min", asked.profile.gate.read_min},
                 {"embedder", models.space.model_id},
                 {"judge", models.judge}};
  if (made != nullptr) {
    out["wanted_rate"] = made->wanted_rate;
    out["false_answer_rate"] = made->false_answer_rate;
    out["answered_rate"] = made->answered_rate;
    out["questions"] = made->probes;
    out["passages"] = made->passages;
    out["made_at"] = to_rfc3339(made->made_at);
  }
  return http::Response::json(200, out);
}

Result<http::Response> clear(const CalibrateServices& services, const Caller& caller, const http::Request& request,
                             const CallContext& call) {
  const std::string_view name = request.query_value("corpus").value_or(kDefaultCorpus);
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.find_corpus(call, caller.workspace, name));
  FOOTNOTE_CHECK(services.catalog.set_gate(call, corpus.id, std::nullopt));
  return http::Response::json(200, JsonObject{{"corpus", corpus.name}});
}

}  // namespace

std::vector<Route> make_calibrate_routes(const CalibrateServices& services) {
  const auto stream = [services](const Caller& caller, const http::Request& request, const CallContext& call,
                                 http::ResponseStream& response) { calibrate(services, caller, request, call, response); };
  const Access admin = Access::with(KeyScope::kAdmin);
  constexpr std::string_view kPattern = "/api/admin/calibrate";
  return {{.access = admin,
           .method = http::Method::kPost,
           .pattern = std::string(kPattern),
           .handler = StreamHandler(stream),
           .timeout = kCalibrateTimeout,
           .summary = "Set how much evidence a corpus needs before it answers (server-sent events)"},
          {.access = admin,
           .method = http::Method::kGet,
           .pattern = std::string(kPattern),
           .handler = bind(services, show),
           .summary = "Show how a corpus's gate is set, and by what"},
          {.access = admin,
           .method = http::Method::kDelete,
           .pattern = std::string(kPattern),
           .handler = bind(services, clear),
           .summary = "Delete a corpus's calibration"}};
}

}  // namespace footnote::api
