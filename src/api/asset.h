#pragma once

#include <span>
#include <string_view>

#include "api/route.h"

namespace footnote::api {

/// A file embedded in the binary by cmake/assets.cmake.
struct Asset {
  std::string_view name;  ///< "index.html"
  std::string_view bytes;
};

std::span<const Asset> first_page_assets();  ///< web/first, and sse.js built from web/widget
std::span<const Asset> demo_shop_assets();   ///< examples/shop
std::span<const Asset> chat_app_assets();    ///< web/app, bundled; each file also compressed, as NAME.gz
std::span<const Asset> widget_assets();      ///< widget.js built from web/widget, and widget.js.gz, the same compressed

/// Headers sent with a file besides Content-Type and ETag.
struct AssetHeaders {
  std::string_view cache_control = "no-cache";  ///< Browsers revalidate each time and mostly get 304.
  std::string_view security_policy = {};        ///< Empty: none, for files that are not pages.
};

/// Decided by the file extension.
std::string_view content_type_of(std::string_view name);

/// The ETag: a hash of the bytes, in quotes.
std::string etag_of(std::string_view bytes);

/// 304 if the client already has these bytes, else the whole file.
http::Response asset_response(const Asset& asset, const std::string& etag, const AssetHeaders& headers, const http::Request& request);

/// Serves one file. `asset` and the texts of `headers` must outlive the handler.
Handler serve_asset(const Asset& asset, const AssetHeaders& headers);

/// "gzip, br;q=0.8" -> true; "gzip;q=0" -> false.
bool accepts_gzip(std::string_view accept_encoding);

/// Serves the file of that name, compressed (NAME.gz among `assets`) to clients that accept it. Both must be among `assets`.
Handler serve_packed_asset(std::span<const Asset> assets, std::string_view name, const AssetHeaders& headers);

}  // namespace footnote::api
