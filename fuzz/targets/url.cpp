// URLs of upstreams, request targets, query strings, percent escapes, and paths for the router.
#include "http/url.h"

#include "base/text.h"
#include "base/utf8.h"
#include "http/http1.h"
#include "http/router.h"
#include "target.h"

namespace footnote {
namespace {

using namespace http;

std::string render(const Url& url) { return (url.scheme == Scheme::kHttps ? "https://" : "http://") + url.authority() + url.target; }

void check_url(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) {
    FOOTNOTE_ASSERT(url.error().code == ErrorCode::kInvalidArgument);
    return;
  }
  FOOTNOTE_ASSERT(!url->host.empty() && url->host == to_lower_ascii(url->host) && url->port != 0);
  FOOTNOTE_ASSERT(url->host.find_first_of("@/?#\\ []%") == std::string::npos);
  FOOTNOTE_ASSERT(url->target.starts_with('/') && is_header_value(url->target) && is_header_value(url->host_header()));
  const auto again = parse_url(render(*url));
  FOOTNOTE_ASSERT(again && again->scheme == url->scheme && again->host == url->host && again->port == url->port);
  FOOTNOTE_ASSERT(again->target == url->target);
  const std::string joined = join_url(text, "/x");
  FOOTNOTE_ASSERT(joined.ends_with("/x") && !joined.ends_with("//x"));
}

void check_escapes(std::string_view text) {
  const bool plain = is_valid_utf8(text) && text.find('\0') == std::string_view::npos;
  const auto back = percent_decode(percent_encode(text));
  FOOTNOTE_ASSERT(back.has_value() == plain && (!plain || *back == text));
  const auto decoded = percent_decode(text);
  if (!decoded) return;
  FOOTNOTE_ASSERT(is_valid_utf8(*decoded) && decoded->find('\0') == std::string::npos && decoded->size() <= text.size());
}

void check_query(std::string_view text) {
  const auto query = parse_query(text);
  if (!query) return;
  FOOTNOTE_ASSERT(query->size() <= kQueryParametersMax);
  std::string rendered;
  for (const auto& [name, value] : *query) rendered += "&" + percent_encode(name) + "=" + percent_encode(value);
  FOOTNOTE_ASSERT(parse_query(rendered) == *query);
}

Router make_router() {
  const auto route = [](Method method, std::string pattern) {
    return Route{
        .method = method, .pattern = std::move(pattern), .handler = Handler([](const Request&, const CallContext&) { return Response{}; })};
  };
  auto router =
      Router::build({route(Method::kGet, "/"), route(Method::kGet, "/a/{id}"), route(Method::kPost, "/a/{id}"), route(Method::kGet, "/a/b"),
                     route(Method::kGet, "/a/{id}/c/{other}"), route(Method::kGet, "/files/{path...}")});
  FOOTNOTE_ASSERT(router.has_value());
  return *std::move(router);
}

bool climbs(std::string_view path) {
  for (const std::string_view part : split(path, '/')) {
    if (part == ".." || part == ".") return true;
  }
  return false;
}

void check_route(std::string_view path) {
  static const Router router = make_router();
  const auto match = router.match(Method::kGet, path);
  // Every path that the router accepts is one that the server accepted before.
  if (!match) return;
  FOOTNOTE_ASSERT(percent_decode(path).has_value());
  if (match->route == nullptr) return FOOTNOTE_ASSERT(match->path_params.empty());
  FOOTNOTE_ASSERT(match->allowed.empty());
  for (const auto& [name, value] : match->path_params) {
    FOOTNOTE_ASSERT(is_valid_utf8(value) && value.find('\0') == std::string::npos);
    FOOTNOTE_ASSERT(name == "path" ? !climbs(value) && value.find('\\') == std::string::npos : !value.empty());
  }
}

void check_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return;
  FOOTNOTE_ASSERT(target->path.starts_with('/') && target->path.find_first_of("?#") == std::string_view::npos);
  FOOTNOTE_ASSERT(target->query.empty() || text.ends_with(target->query));
  check_route(target->path);
  check_query(target->query);
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view text = fuzz::as_text(data, size);
  check_url(text);
  check_escapes(text);
  check_query(text);
  check_target(text);
  check_route(text);
  return 0;
}
