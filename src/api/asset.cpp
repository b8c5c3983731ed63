#include "api/asset.h"

#include "base/sha256.h"

namespace footnote::api {

std::string_view content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

std::string etag_of(std::string_view bytes) { return "\"" + sha256_hex(bytes).substr(0, 16) + "\""; }

http::Response asset_response(const Asset& asset, const std::string& etag, const AssetHeaders& headers, const http::Request& request) {
  http::Response response;
  if (request.headers.find("if-none-match") == etag) {
    response.status = 304;
  } else {
    response = http::Response::text(200, content_type_of(asset.name), std::string(asset.bytes));
  }
  response.headers.set("etag", etag);
  response.headers.set("cache-control", headers.cache_control);
  if (!headers.security_policy.empty()) response.headers.set("content-security-policy", headers.security_policy);
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("referrer-policy", "no-referrer");
  return response;
}

Handler serve_asset(const Asset& asset, const AssetHeaders& headers) {
  return [asset, headers, etag = etag_of(asset.bytes)](const access::Caller&, const http::Request& request, const CallContext&) {
    return asset_response(asset, etag, headers, request);
  };
}

}  // namespace footnote::api
