#include "providers/web/searxng_search.h"

#include "base/json.h"
#include "base/text.h"
#include "http/url.h"

namespace footnote {

namespace {

constexpr std::string_view kSearcher = "the search server (SEARXNG_URL)";

std::string text_field(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? fold_spaces(std::string_view(value->get_string())) : std::string();
}

}  // namespace

Result<std::vector<WebResult>> SearxngSearch::search(const CallContext& call, std::string_view query, std::string_view language,
                                                     std::size_t limit) {
  std::string url = http::join_url(options_.url, "/search") + "?format=json&q=" + http::percent_encode(query);
  if (!language.empty()) url += "&language=" + http::percent_encode(language);
  http::Headers headers;
  headers.set("accept", "application/json");
  FOOTNOTE_TRY(const http::Response response, client_.fetch(call.narrowed(options_.timeout), {.url = url, .headers = headers}));
  if (response.status == 403) {
    return fail(ErrorCode::kUnavailable, "{} refuses: add 'json' to search.formats in its settings", kSearcher);
  }
  if (response.status != 200) return fail(ErrorCode::kUnavailable, "{} answers with {}", kSearcher, response.status);
  const auto json = parse_json(response.body);
  const JsonObject* object = json ? json->if_object() : nullptr;
  const Json* results = object == nullptr ? nullptr : object->if_contains("results");
  if (results == nullptr || !results->is_array()) return fail(ErrorCode::kUnavailable, "{} sent no list of results", kSearcher);
  std::vector<WebResult> out;
  for (const Json& entry : results->get_array()) {
    const JsonObject* result = entry.if_object();
    if (result == nullptr || out.size() >= limit) continue;
    WebResult found{text_field(*result, "title"), text_field(*result, "url"), text_field(*result, "content")};
    const bool is_page = found.url.starts_with("http://") || found.url.starts_with("https://");
    if (is_page) out.push_back(std::move(found));
  }
  return out;
}

}  // namespace footnote
