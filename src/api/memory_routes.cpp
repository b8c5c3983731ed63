#include "api/memory_routes.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kTimeBytesMax = 100;
/// A text and its metadata with every byte escaped, plus the other fields.
constexpr std::size_t kMemoryBodyBytesMax = 256 << 10;

struct MemoryServices {
  points::Memories& memories;
  const Clock& clock;
};

Result<std::optional<UtcTime>> parse_expiry(const JsonReader& reader, UtcTime now) {
  FOOTNOTE_TRY(const auto text, reader.optional_string("expires_at", kTimeBytesMax));
  const std::int64_t longest = std::chrono::seconds(points::kMemoryLifetimeMax).count();
  FOOTNOTE_TRY(const auto seconds, reader.optional_integer("ttl_seconds", 1, longest));
  if (text && seconds) return fail_field(ErrorCode::kInvalidArgument, "ttl_seconds", "send only one of 'ttl_seconds' and 'expires_at'");
  if (seconds) return now + std::chrono::seconds(*seconds);
  if (!text) return std::nullopt;
  const auto time = parse_rfc3339(*text);
  if (!time) return fail_field(ErrorCode::kInvalidArgument, "expires_at", "'expires_at' is a time like 2027-01-31T12:00:00Z");
  return *time;
}

Result<JsonObject> parse_metadata(const Json& body) {
  const Json* metadata = body.get_object().if_contains("metadata");
  if (metadata == nullptr || metadata->is_null()) return JsonObject{};
  if (!metadata->is_object()) return fail_field(ErrorCode::kInvalidArgument, "metadata", "'metadata' must be an object");
  return metadata->get_object();
}

Result<points::NewMemory> parse_memory(const http::Request& request, UtcTime now) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"agent_id", "id", "text", "metadata", "expires_at", "ttl_seconds"}));
  points::NewMemory memory;
  FOOTNOTE_TRY(memory.agent, reader.required_string("agent_id", points::kMemoryNameBytesMax));
  if (reader.has("id")) {
    FOOTNOTE_TRY(memory.id, reader.required_string("id", points::kMemoryNameBytesMax));
  }
  FOOTNOTE_TRY(memory.text, reader.required_string("text", points::kMemoryTextBytesMax));
  FOOTNOTE_TRY(memory.metadata, parse_metadata(body));
  FOOTNOTE_TRY(memory.expires_at, parse_expiry(reader, now));
  return memory;
}

Json time_json(const std::optional<UtcTime>& time) { return time ? Json(to_rfc3339(*time)) : Json(nullptr); }

JsonObject render(const points::Memory& memory) {
  JsonObject out{{"id", memory.id}, {"agent_id", memory.agent}, {"text", memory.text}};
  out["metadata"] = memory.metadata;
  out["created_at"] = time_json(memory.created_at);
  out["expires_at"] = time_json(memory.expires_at);
  return out;
}

Result<http::Response> write(const MemoryServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const points::NewMemory memory, parse_memory(request, services.clock.now()));
  FOOTNOTE_TRY(const auto written, services.memories.write(call, caller.workspace, memory));
  return http::Response::json(written.is_new ? 201 : 200, render(written.memory));
}

Result<http::Response> search(const MemoryServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"agent_id", "query", "limit", "score_threshold"}));
  points::MemoryQuery query;
  FOOTNOTE_TRY(query.agent, reader.required_string("agent_id", points::kMemoryNameBytesMax));
  FOOTNOTE_TRY(query.text, reader.required_string("query", points::kMemoryTextBytesMax));
  FOOTNOTE_TRY(const auto limit, reader.optional_integer("limit", 1, points::kMemoriesFoundMax));
  if (limit) query.limit = static_cast<std::size_t>(*limit);
  FOOTNOTE_TRY(query.score_min, reader.optional_number("score_threshold", -1, 1));
  FOOTNOTE_TRY(const auto found, services.memories.search(call, caller.workspace, query));
  JsonArray memories;
  for (const points::FoundMemory& hit : found) {
    JsonObject memory = render(hit.memory);
    memory["score"] = hit.score;
    memories.push_back(std::move(memory));
  }
  return http::Response::json(200, JsonObject{{"memories", std::move(memories)}});
}

Result<http::Response> forget(const MemoryServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  const auto agent = request.query_value("agent_id");
  if (!agent) return fail_field(ErrorCode::kInvalidArgument, "agent_id", "name the agent whose note it is: ?agent_id=...");
  const std::string_view id = request.param("id");
  FOOTNOTE_CHECK(services.memories.forget(call, caller.workspace, *agent, id));
  return http::Response::json(200, JsonObject{{"id", id}, {"deleted", true}});
}

}  // namespace

std::vector<Route> make_memory_routes(points::Memories& memories, const Clock& clock) {
  using http::Method;
  const MemoryServices services{memories, clock};
  return {{.access = Access::with(KeyScope::kIngest),
           .method = Method::kPost,
           .pattern = "/api/memories",
           .handler = bind(services, write),
           .body_bytes_max = kMemoryBodyBytesMax,
           .summary = "Store an agent's note, or replace the one with that id"},
          {.access = Access::with(KeyScope::kRead),
           .method = Method::kPost,
           .pattern = "/api/memories/search",
           .handler = bind(services, search),
           .body_bytes_max = kMemoryBodyBytesMax,
           .summary = "An agent's notes that are nearest to a text"},
          {.access = Access::with(KeyScope::kIngest),
           .method = Method::kDelete,
           .pattern = "/api/memories/{id}",
           .handler = bind(services, forget),
           .summary = "Delete an agent's note"}};
}

}  // namespace footnote::api
