#include "api/rebuild_routes.h"

#include "base/json.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kNameBytesMax = 200;

struct RebuildServices {
  IndexRebuilds& rebuilds;
};

std::string_view to_string(RebuildState::Phase phase) {
  switch (phase) {
    case RebuildState::Phase::kRunning: return "running";
    case RebuildState::Phase::kReady: return "ready";
    case RebuildState::Phase::kDone: return "done";
    case RebuildState::Phase::kFailed: return "failed";
    case RebuildState::Phase::kCancelled: return "cancelled";
  }
  return "failed";
}

JsonObject render(const RebuildState& state) {
  return {{"corpus", state.corpus},
          {"model", state.model},
          {"state", to_string(state.phase)},
          {"done", state.done},
          {"total", state.total},
          {"embedded", state.embedded},
          {"recoded", state.recoded},
          {"rows", state.rows},
          {"generation", state.generation},
          {"bytes", state.bytes},
          {"error", state.error.empty() ? Json(nullptr) : Json(state.error)}};
}

Result<http::Response> start(const RebuildServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"corpus", "model"}));
  FOOTNOTE_TRY(const std::string corpus, reader.required_string("corpus", kNameBytesMax));
  FOOTNOTE_TRY(const auto model, reader.optional_string("model", kNameBytesMax));
  FOOTNOTE_TRY(const RebuildState state, services.rebuilds.start(call, caller.workspace, corpus, model));
  return http::Response::json(202, render(state));
}

Result<http::Response> show(const RebuildServices& services, const Caller& caller, const http::Request&, const CallContext&) {
  const auto state = services.rebuilds.state(caller.workspace);
  if (!state) return fail(ErrorCode::kNotFound, "no index was rebuilt since the server started");
  return http::Response::json(200, render(*state));
}

Result<http::Response> cancel(const RebuildServices& services, const Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const RebuildState state, services.rebuilds.cancel(call, caller.workspace));
  return http::Response::json(200, render(state));
}

}  // namespace

std::vector<Route> make_rebuild_routes(IndexRebuilds& rebuilds) {
  using http::Method;
  const RebuildServices services{rebuilds};
  const Access admin = Access::with(KeyScope::kAdmin);
  constexpr std::string_view kPattern = "/api/admin/rebuild";
  return {
      {.access = admin,
       .method = Method::kPost,
       .pattern = std::string(kPattern),
       .handler = bind(services, start),
       .summary = "Rebuild a corpus's indexes in the background, with another model if one is named"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = std::string(kPattern),
       .handler = bind(services, show),
       .summary = "Progress of the last rebuild"},
      {.access = admin,
       .method = Method::kDelete,
       .pattern = std::string(kPattern),
       .handler = bind(services, cancel),
       .summary = "Stop the rebuild; the corpus stays as it is"},
  };
}

}  // namespace footnote::api
