#include "api/visitor_admin_routes.h"

#include "answer/visitor_history.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kGapsShown = 100;
constexpr std::size_t kGapsShownMax = 1'000;
constexpr std::size_t kDaysShown = 30;
constexpr std::size_t kDaysShownMax = 366;
constexpr std::size_t kWordBytesMax = 100;

std::unexpected<Error> no_status() { return fail_field(ErrorCode::kInvalidArgument, "status", "'status' is open, answered or ignored"); }

JsonObject render(const AgentGap& gap) {
  return {{"id", gap.id.value},
          {"agent_id", gap.agent.value},
          {"question", gap.question},
          {"reason", to_string(gap.reason)},
          {"status", to_string(gap.status)},
          {"occurrences", gap.occurrences},
          {"first_seen_at", to_rfc3339(gap.first_seen_at)},
          {"last_seen_at", to_rfc3339(gap.last_seen_at)}};
}

std::string_view kind_of(const Turn& turn) {
  if (turn.visit && turn.visit->curated) return "curated";
  if (std::holds_alternative<Refusal>(turn.outcome)) return "refusal";
  return std::holds_alternative<Clarification>(turn.outcome) ? "clarification" : "answer";
}

std::string text_of(const Outcome& outcome) {
  return std::visit([](const auto& kind) { return kind.text; }, outcome);
}

JsonObject render(const Turn& turn) {
  JsonArray sources;
  if (const auto* answer = std::get_if<Answer>(&turn.outcome)) {
    for (const SourceBlock& block : answer->sources) {
      sources.push_back(JsonObject{{"id", block.number}, {"document", block.hit.document_key}, {"title", block.hit.document.title}});
    }
  }
  JsonObject out{{"id", turn.id.value},
                 {"conversation_id", turn.conversation.value},
                 {"asked_at", to_rfc3339(turn.asked_at)},
                 {"question", turn.question},
                 {"outcome", kind_of(turn)},
                 {"text", text_of(turn.outcome)},
                 {"sources", std::move(sources)}};
  if (!turn.visit) return out;
  out["agent_id"] = turn.visit->agent.value;
  out["page_url"] = turn.visit->page_url;
  out["confidence"] = turn.visit->confidence;
  out["low_confidence"] = turn.visit->low_confidence;
  out["feedback"] = nullptr;
  if (const auto& feedback = turn.visit->feedback) {
    out["feedback"] = JsonObject{{"rating", to_string(feedback->rating)}, {"reason", feedback->reason}};
  }
  return out;
}

Result<http::Response> list_gaps(const AgentServices& services, const Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  FOOTNOTE_TRY(const std::size_t limit, number_in_query(request, "limit", kGapsShown, kGapsShownMax));
  std::optional<GapStatus> status;
  if (const auto name = request.query_value("status")) {
    status = parse_gap_status(*name);
    if (!status) return no_status();
  }
  FOOTNOTE_TRY(const auto gaps, services.conversations.agent_gaps(call, caller.workspace, agent.id, status, limit));
  JsonArray out;
  for (const AgentGap& gap : gaps) out.push_back(render(gap));
  return http::Response::json(200, JsonObject{{"gaps", std::move(out)}});
}

Result<http::Response> change_gap(const AgentServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, id_in_path(request, "gap"));
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"status"}));
  FOOTNOTE_TRY(const std::string name, reader.required_string("status", kWordBytesMax));
  const auto status = parse_gap_status(name);
  if (!status) return no_status();
  FOOTNOTE_TRY(const AgentGap gap, services.conversations.set_gap_status(call, caller.workspace, {id}, *status));
  return http::Response::json(200, render(gap));
}

Result<http::Response> usage(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  FOOTNOTE_TRY(const std::size_t days, number_in_query(request, "days", kDaysShown, kDaysShownMax));
  FOOTNOTE_TRY(const auto used, services.conversations.agent_usage(call, caller.workspace, agent.id, days));
  JsonArray out;
  for (const AgentUsageDay& day : used) {
    out.push_back(JsonObject{{"day", day.day},
                             {"turns", day.turns},
                             {"curated", day.curated},
                             {"refused", day.refused},
                             {"prompt_tokens", day.prompt_tokens},
                             {"completion_tokens", day.completion_tokens}});
  }
  return http::Response::json(200, JsonObject{{"agent_id", agent.id.value}, {"days", std::move(out)}});
}

Result<http::Response> export_visitor(const AgentServices& services, const Caller& caller, const http::Request& request,
                                      const CallContext& call) {
  const VisitorId visitor{std::string(request.param("id"))};
  FOOTNOTE_TRY(const auto turns, services.conversations.visitor_turns(call, caller.workspace, visitor));
  if (turns.empty()) return fail(ErrorCode::kNotFound, "nothing is stored about visitor '{}'", visitor.value);
  JsonArray out;
  for (const Turn& turn : turns) out.push_back(render(turn));
  http::Response response = http::Response::json(200, JsonObject{{"visitor_id", visitor.value}, {"turns", std::move(out)}});
  response.headers.set("cache-control", "no-store");
  return response;
}

Result<http::Response> erase_visitor(const AgentServices& services, const Caller& caller, const http::Request& request,
                                     const CallContext& call) {
  const VisitorId visitor{std::string(request.param("id"))};
  FOOTNOTE_TRY(const std::size_t erased, services.conversations.erase_visitor(call, caller.workspace, visitor));
  answer::forget_visitor(call, services.cache, visitor);
  if (erased == 0) return fail(ErrorCode::kNotFound, "nothing is stored about visitor '{}'", visitor.value);
  return http::Response::json(200, JsonObject{{"visitor_id", visitor.value}, {"erased_turns", erased}});
}

}  // namespace

std::vector<Route> make_visitor_admin_routes(const AgentServices& services) {
  using http::Method;
  const Access admin = Access::with(KeyScope::kAdmin);
  return {
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/gaps",
       .handler = bind(services, list_gaps),
       .summary = "Questions that an agent did not answer well, most frequent first"},
      {.access = admin,
       .method = Method::kPatch,
       .pattern = "/api/admin/gaps/{id}",
       .handler = bind(services, change_gap),
       .summary = "Mark a gap as open, answered or ignored"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/usage",
       .handler = bind(services, usage),
       .summary = "An agent's usage per day"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/visitors/{id}",
       .handler = bind(services, export_visitor),
       .summary = "Everything stored about a visitor"},
      {.access = admin,
       .method = Method::kDelete,
       .pattern = "/api/admin/visitors/{id}",
       .handler = bind(services, erase_visitor),
       .summary = "Erase everything stored about a visitor"},
  };
}

}  // namespace footnote::api
