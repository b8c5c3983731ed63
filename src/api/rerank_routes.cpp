#include "api/rerank_routes.h"

#include <algorithm>
#include <numeric>

#include "api/embed_wire.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kRerankBodyBytesMax = 32 << 20;
constexpr std::size_t kRerankQueryBytesMax = 100'000;
constexpr std::chrono::minutes kRerankTimeout{5};

/// Indexes of the passages, best first; stable for equal scores.
std::vector<std::size_t> best_first(std::span<const Judgement> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto better = [&](std::size_t a, std::size_t b) {
    if (scores[a].calibrated != scores[b].calibrated) return scores[a].calibrated > scores[b].calibrated;
    return scores[a].raw != scores[b].raw ? scores[a].raw > scores[b].raw : a < b;
  };
  std::ranges::sort(order, better);
  return order;
}

/// Documents are texts or objects with a text.
Result<std::vector<std::string_view>> documents_of(const JsonReader& reader) {
  FOOTNOTE_TRY(const JsonArray* documents, reader.required_array("documents", kRerankPassagesMax));
  if (documents->empty()) return fail_field(ErrorCode::kInvalidArgument, "documents", "'documents' is empty: send at least one");
  std::vector<std::string_view> out;
  out.reserve(documents->size());
  for (const Json& document : *documents) {
    const JsonObject* object = document.if_object();
    const Json* text = object == nullptr ? &document : object->if_contains("text");
    if (text == nullptr || !text->is_string()) {
      const std::string path = fmt::format("documents[{}]", out.size());
      return fail_field(ErrorCode::kInvalidArgument, path, "'{}' must be a text or an object with a 'text'", path);
    }
    out.emplace_back(text->get_string());
  }
  return out;
}

/// No Retry-After: a retry fails until a reranker is configured.
http::Response none_here(ErrorForm form) {
  http::Response response = form({ErrorCode::kUnavailable,
                                  "no reranker is configured; add a cross-encoder with `footnote models add FOLDER` and name it in the "
                                  "setting reranker.model, or set reranker.provider to a server's",
                                  {}});
  response.headers.remove("retry-after");
  response.headers.set("x-should-retry", "false");
  return response;
}

Result<http::Response> rerank_cohere(const RerankServices& services, const Caller&, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_TRY(const std::string query, reader.required_string("query", kRerankQueryBytesMax));
  FOOTNOTE_TRY(const auto passages, documents_of(reader));
  FOOTNOTE_TRY(const auto top_n, reader.optional_integer("top_n", 1, std::numeric_limits<std::int32_t>::max()));
  FOOTNOTE_TRY(const auto with_texts, reader.optional_bool("return_documents"));
  if (services.reranker == nullptr) return none_here(render_openai_error);
  FOOTNOTE_TRY(const auto scores, services.reranker->rerank(call, query, passages));
  JsonArray results;
  for (const std::size_t index : best_first(scores)) {
    if (top_n && results.size() == static_cast<std::size_t>(*top_n)) break;
    JsonObject result{{"index", index}, {"relevance_score", scores[index].calibrated}};
    if (with_texts.value_or(false)) result["document"] = JsonObject{{"text", passages[index]}};
    results.push_back(std::move(result));
  }
  return http::Response::json(200, JsonObject{{"id", request.request_id}, {"results", std::move(results)}});
}

Result<http::Response> rerank_tei(const RerankServices& services, const Caller&, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_TRY(const std::string query, reader.required_string("query", kRerankQueryBytesMax));
  FOOTNOTE_TRY(const auto passages, required_texts(body, "texts", kRerankPassagesMax));
  FOOTNOTE_TRY(const auto raw_scores, reader.optional_bool("raw_scores"));
  FOOTNOTE_TRY(const auto with_texts, reader.optional_bool("return_text"));
  if (services.reranker == nullptr) return none_here(render_tei_error);
  FOOTNOTE_TRY(const auto scores, services.reranker->rerank(call, query, passages));
  JsonArray results;
  for (const std::size_t index : best_first(scores)) {
    JsonObject result{{"index", index}, {"score", raw_scores.value_or(false) ? scores[index].raw : scores[index].calibrated}};
    if (with_texts.value_or(false)) result["text"] = passages[index];
    results.push_back(std::move(result));
  }
  return http::Response::json(200, std::move(results));
}

}  // namespace

std::vector<Route> make_rerank_routes(const RerankServices& services) {
  const auto post = [&](std::string pattern, auto* function, std::string summary, ErrorForm form) {
    return Route{.access = Access::with(KeyScope::kRead),
                 .method = http::Method::kPost,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .body_bytes_max = kRerankBodyBytesMax,
                 .timeout = kRerankTimeout,
                 .summary = std::move(summary),
                 .error_form = form};
  };
  return {post("/v1/rerank", rerank_cohere, "Passages by how well they answer a query, in Cohere's form", render_openai_error),
          post("/v2/rerank", rerank_cohere, "The same", render_openai_error),
          post("/tei/rerank", rerank_tei, "Passages by how well they answer a query, in TEI's form", render_tei_error)};
}

}  // namespace footnote::api
