#include "providers/remote/qdrant_search.h"

#include <cmath>

#include "http/url.h"

namespace footnote {

namespace {

constexpr std::string_view kWho = "the vector store (QDRANT_URL)";

std::string text_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<double> number_of(const Json& value) {
  boost::json::error_code error;
  const auto number = value.to_number<double>(error);
  if (error || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// A collection with named vectors returns an object here: use the first one.
std::vector<float> vector_at(const JsonObject& object) {
  const Json* value = object.if_contains("vector");
  if (value != nullptr && value->is_object() && !value->get_object().empty()) value = &value->get_object().begin()->value();
  std::vector<float> out;
  if (value == nullptr || !value->is_array()) return out;
  for (const Json& number : value->get_array()) {
    const auto read = number_of(number);
    if (!read) return {};
    out.push_back(static_cast<float>(*read));
  }
  return out;
}

std::optional<RemotePoint> read_point(const Json& value) {
  const JsonObject* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  RemotePoint out;
  const Json* score = object->if_contains("score");
  const auto number = score == nullptr ? std::optional<double>(0.0) : number_of(*score);
  if (!number) return std::nullopt;
  out.score = *number;
  out.vector = vector_at(*object);
  const Json* payload = object->if_contains("payload");
  if (payload == nullptr || !payload->is_object()) return out;
  out.url = text_at(payload->get_object(), "url");
  out.title = text_at(payload->get_object(), "title");
  out.text = text_at(payload->get_object(), "text");
  return out;
}

/// Accepts {"result": [...]} of /points/search and {"result": {"points": [...]}} of /points/query.
const JsonArray* points_of(const Json& answer) {
  const JsonObject* object = answer.if_object();
  const Json* result = object == nullptr ? nullptr : object->if_contains("result");
  if (result != nullptr && result->is_object()) result = result->get_object().if_contains("points");
  return result == nullptr ? nullptr : result->if_array();
}

std::string render(std::string_view vector_key, std::span<const float> vector, std::size_t limit) {
  std::string out = fmt::format(R"({{"{}":)", vector_key);
  append_floats(out, vector);
  out += fmt::format(R"(,"limit":{},"with_payload":true,"with_vector":true}})", limit);
  return out;
}

}  // namespace

Result<http::Response> QdrantSearch::post(const CallContext& call, std::string_view collection, std::string_view path, std::string body) {
  http::ClientRequest request{.method = http::Method::kPost,
                              .url = http::join_url(options_.url, fmt::format("/collections/{}{}", http::percent_encode(collection), path)),
                              .headers = {{"content-type", "application/json"}, {"accept", "application/json"}},
                              .body = std::move(body)};
  if (!options_.key.empty()) request.headers.set("api-key", options_.key);
  if (!call.request_id.empty()) request.headers.set("x-request-id", call.request_id);
  auto response = client_.fetch(call.narrowed(options_.timeout), request);
  if (response) return response;
  if (response.error().code == ErrorCode::kDeadlineExceeded && call.check()) {
    return fail(ErrorCode::kUnavailable, "{} did not answer within {} ms", kWho, options_.timeout.count());
  }
  if (response.error().code == ErrorCode::kUnavailable) return with_context(response.error(), fmt::format("{} does not answer", kWho));
  return response;
}

Result<http::Response> QdrantSearch::ask(const CallContext& call, std::string_view collection, std::span<const float> vector,
                                         std::size_t limit) {
  if (!only_search_) {
    FOOTNOTE_TRY(http::Response response, post(call, collection, "/points/query", render("query", vector, limit)));
    if (response.status != 404 && response.status != 405) return response;
  }
  FOOTNOTE_TRY(http::Response response, post(call, collection, "/points/search", render("vector", vector, limit)));
  if (response.status == 200) only_search_ = true;
  return response;
}

Result<std::vector<RemotePoint>> QdrantSearch::nearest(const CallContext& call, std::string_view collection, std::span<const float> vector,
                                                       std::size_t limit) {
  FOOTNOTE_TRY(const http::Response response, ask(call, collection, vector, limit));
  if (response.status == 404) return fail(ErrorCode::kFailedPrecondition, "{} has no collection '{}'", kWho, collection);
  if (response.status == 400) {
    return fail(ErrorCode::kFailedPrecondition, "{} can't search '{}' by vectors of {} numbers", kWho, collection, vector.size());
  }
  if (response.status == 401 || response.status == 403)
    return fail(ErrorCode::kUnavailable, "{} refused our key: check QDRANT_API_KEY", kWho);
  if (response.status != 200) return fail(ErrorCode::kUnavailable, "{} failed (status {})", kWho, response.status);
  const auto answer = parse_json(response.body);
  const JsonArray* points = answer ? points_of(*answer) : nullptr;
  if (points == nullptr) return fail(ErrorCode::kUnavailable, "{} sent an answer that can't be used", kWho);
  std::vector<RemotePoint> out;
  for (const Json& point : *points) {
    if (out.size() == limit) break;
    auto read = read_point(point);
    if (!read) return fail(ErrorCode::kUnavailable, "{} sent a point that can't be used", kWho);
    out.push_back(*std::move(read));
  }
  return out;
}

}  // namespace footnote
