#include "api/curated_routes.h"

#include <algorithm>

#include "base/csv.h"
#include "base/text.h"

namespace footnote::api {
namespace {

using access::Caller;

// Rejects hostile bodies early; the limits that users see are those of domain/agent.h.
constexpr std::size_t kTextBytesMax = 256 << 10;
constexpr std::string_view kColumns[] = {"pattern", "answer", "priority", "language", "page_url_prefix", "enabled"};

JsonObject render(const CuratedAnswer& answer) {
  return {{"id", answer.id.value},
          {"agent_id", answer.agent.value},
          {"pattern", answer.pattern},
          {"answer", answer.answer},
          {"priority", answer.priority},
          {"language", answer.language},
          {"page_url_prefix", answer.page_url_prefix},
          {"enabled", answer.enabled},
          {"updated_at", to_rfc3339(answer.updated_at)}};
}

/// Overwrites the fields of `answer` that are present.
Result<void> read_answer(const JsonReader& reader, CuratedAnswer& answer) {
  FOOTNOTE_CHECK(reader.only({"pattern", "answer", "priority", "language", "page_url_prefix", "enabled"}));
  const auto take = [&](std::string_view key, std::string& into) -> Result<void> {
    FOOTNOTE_TRY(auto text, reader.optional_string(key, kTextBytesMax));
    if (text) into = *std::move(text);
    return {};
  };
  FOOTNOTE_CHECK(take("pattern", answer.pattern));
  FOOTNOTE_CHECK(take("answer", answer.answer));
  FOOTNOTE_CHECK(take("language", answer.language));
  FOOTNOTE_CHECK(take("page_url_prefix", answer.page_url_prefix));
  FOOTNOTE_TRY(const auto priority, reader.optional_integer("priority", -kCuratedPriorityMax, kCuratedPriorityMax));
  answer.priority = priority.value_or(answer.priority);
  FOOTNOTE_TRY(const auto enabled, reader.optional_bool("enabled"));
  answer.enabled = enabled.value_or(answer.enabled);
  return {};
}

std::unexpected<Error> at_line(std::size_t line, const Error& error) {
  return fail_field(ErrorCode::kInvalidArgument, fmt::format("line {}", line), "line {}: {}", line, error.message);
}

/// Stores one cell in its column's field.
Result<void> set_cell(std::string_view column, std::string cell, CuratedAnswer& answer) {
  if (column == "pattern") answer.pattern = std::move(cell);
  if (column == "answer") answer.answer = std::move(cell);
  if (column == "language") answer.language = trim(cell);
  if (column == "page_url_prefix") answer.page_url_prefix = trim(cell);
  if (column == "priority" && !trim(cell).empty()) {
    const auto number = parse_whole_number(trim(cell));
    if (!number) return fail(ErrorCode::kInvalidArgument, "'priority' is a whole number");
    answer.priority = *number;
  }
  if (column == "enabled" && !trim(cell).empty()) {
    const std::string word = to_lower_ascii(trim(cell));
    if (word != "true" && word != "false" && word != "1" && word != "0") {
      return fail(ErrorCode::kInvalidArgument, "'enabled' is true or false");
    }
    answer.enabled = word == "true" || word == "1";
  }
  return {};
}

Result<std::vector<std::string>> parse_columns(const CsvRecord& head) {
  std::vector<std::string> out;
  for (const std::string& field : head.fields) {
    out.push_back(to_lower_ascii(trim(field)));
    if (std::ranges::find(kColumns, out.back()) == std::end(kColumns)) {
      return fail(ErrorCode::kInvalidArgument,
                  "there is no column '{}'; there are pattern, answer, priority, language, page_url_prefix, enabled", field);
    }
    if (std::ranges::count(out, out.back()) > 1) return fail(ErrorCode::kInvalidArgument, "the column '{}' occurs twice", field);
  }
  for (const std::string_view needed : {"pattern", "answer"}) {
    if (std::ranges::find(out, needed) == out.end()) return fail(ErrorCode::kInvalidArgument, "there is no column '{}'", needed);
  }
  return out;
}

Result<CuratedAnswer> parse_record(const CsvRecord& record, const std::vector<std::string>& columns) {
  if (record.fields.size() != columns.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} fields, but the first line names {}", record.fields.size(), columns.size());
  }
  CuratedAnswer out;
  for (std::size_t i = 0; i < columns.size(); ++i) FOOTNOTE_CHECK(set_cell(columns[i], record.fields[i], out));
  FOOTNOTE_CHECK(check_curated_answer(out));
  return out;
}

JsonArray render_all(const std::vector<CuratedAnswer>& answers) {
  JsonArray out;
  for (const CuratedAnswer& answer : answers) out.push_back(render(answer));
  return out;
}

Result<http::Response> list(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  FOOTNOTE_TRY(const auto answers, services.agents.curated(call, agent.id));
  return http::Response::json(200, JsonObject{{"curated", render_all(answers)}});
}

/// Applies the request's body to `answer` and saves it.
Result<http::Response> save_one(const AgentServices& services, const Agent& agent, const http::Request& request, const CallContext& call,
                                CuratedAnswer answer, int status) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(read_answer(reader, answer));
  FOOTNOTE_TRY(const auto saved, services.agents.save_curated(call, agent.workspace, agent.id, std::span(&answer, 1)));
  return http::Response::json(status, render(saved.front()));
}

Result<http::Response> create(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  return save_one(services, agent, request, call, {}, 201);
}

Result<http::Response> change(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  FOOTNOTE_TRY(const std::int64_t id, id_in_path(request, "curated answer"));
  FOOTNOTE_TRY(const auto answers, services.agents.curated(call, agent.id));
  const auto found = std::ranges::find(answers, CuratedId{id}, &CuratedAnswer::id);
  if (found == answers.end()) return fail(ErrorCode::kNotFound, "there is no curated answer {}", id);
  return save_one(services, agent, request, call, *found, 200);
}

Result<http::Response> remove(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  FOOTNOTE_TRY(const std::int64_t id, id_in_path(request, "curated answer"));
  FOOTNOTE_CHECK(services.agents.remove_curated(call, caller.workspace, agent.id, {id}));
  return http::Response::json(200, JsonObject{{"id", id}, {"deleted", true}});
}

Result<http::Response> import_file(const AgentServices& services, const Caller& caller, const http::Request& request,
                                   const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, asked_agent(services, caller, request, call));
  FOOTNOTE_TRY(const auto answers, parse_curated_csv(request.body));
  FOOTNOTE_TRY(const auto saved, services.agents.save_curated(call, caller.workspace, agent.id, answers));
  return http::Response::json(201, JsonObject{{"imported", saved.size()}});
}

}  // namespace

Result<std::vector<CuratedAnswer>> parse_curated_csv(std::string_view text) {
  const auto records = parse_csv(text, kCuratedAnswersMax + 1);
  if (!records) return fail_field(records.error().code, "body", "{}", records.error().message);
  if (records->empty())
    return fail_field(ErrorCode::kInvalidArgument, "line 1", "line 1: the first line names the columns: pattern,answer");
  const auto columns = parse_columns(records->front());
  if (!columns) return at_line(records->front().line, columns.error());
  std::vector<CuratedAnswer> out;
  for (const CsvRecord& record : std::span(*records).subspan(1)) {
    auto answer = parse_record(record, *columns);
    if (!answer) return at_line(record.line, answer.error());
    out.push_back(*std::move(answer));
  }
  if (out.empty()) return fail_field(ErrorCode::kInvalidArgument, "body", "there is no answer after the first line");
  return out;
}

std::vector<Route> make_curated_routes(const AgentServices& services) {
  using http::Method;
  const Access admin = Access::with(KeyScope::kAdmin);
  return {
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/curated",
       .handler = bind(services, list),
       .summary = "An agent's curated answers"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/curated",
       .handler = bind(services, create),
       .summary = "Add a curated answer"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/curated/import",
       .handler = bind(services, import_file),
       .body_bytes_max = kCuratedImportBytesMax,
       .summary = "Import curated answers from a CSV file in one transaction"},
      {.access = admin,
       .method = Method::kPatch,
       .pattern = "/api/admin/curated/{id}",
       .handler = bind(services, change),
       .summary = "Change a curated answer"},
      {.access = admin,
       .method = Method::kDelete,
       .pattern = "/api/admin/curated/{id}",
       .handler = bind(services, remove),
       .summary = "Remove a curated answer"},
  };
}

}  // namespace footnote::api
