#include "api/asset.h"

#include "base/sha256.h"
#include "base/text.h"

namespace footnote::api {

namespace {

/// The bytes of a file, under the name that decides its type. REQUIRES: the build embedded it.
Asset find_asset(std::span<const Asset> assets, std::string_view name, std::string_view suffix) {
  for (const Asset& asset : assets) {
    if (asset.name.starts_with(name) && asset.name.substr(name.size()) == suffix) return {name, asset.bytes};
  }
  return {name, {}};
}

}  // namespace

std::string_view content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".txt")) return "text/plain; charset=utf-8";
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

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view part : split(accept_encoding, ',')) {
    const std::string coding = to_lower_ascii(trim(part));
    const std::size_t end = coding.find(';');
    if (trim(std::string_view(coding).substr(0, end)) != "gzip") continue;
    if (end == std::string::npos) return true;
    const std::string_view weight = trim(std::string_view(coding).substr(end + 1));
    return weight.find_first_of("123456789") != std::string_view::npos;  // "q=0", "q=0.000" refuse it
  }
  return false;
}

Handler serve_packed_asset(std::span<const Asset> assets, std::string_view name, const AssetHeaders& headers) {
  const Asset plain = find_asset(assets, name, "");
  const Asset packed = find_asset(assets, name, ".gz");
  return [plain, packed, headers, plain_tag = etag_of(plain.bytes), packed_tag = etag_of(packed.bytes)](
             const access::Caller&, const http::Request& request, const CallContext&) -> Result<http::Response> {
    const bool gzip = accepts_gzip(request.headers.find("accept-encoding").value_or(""));
    http::Response response = asset_response(gzip ? packed : plain, gzip ? packed_tag : plain_tag, headers, request);
    if (gzip) response.headers.set("content-encoding", "gzip");
    response.headers.set("vary", "accept-encoding");
    return response;
  };
}

}  // namespace footnote::api
