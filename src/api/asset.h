#pragma once

#include <span>
#include <string_view>

#include "api/route.h"

namespace footnote::api {

/// A file inside the binary: cmake/assets.cmake puts it there.
struct Asset {
  std::string_view name;  ///< "index.html"
  std::string_view bytes;
};

std::span<const Asset> first_page_assets();  ///< web/first, and sse.js, made from web/widget
std::span<const Asset> demo_shop_assets();   ///< examples/shop
std::span<const Asset> widget_assets();      ///< widget.js, made from web/widget, and widget.js.gz, the same in gzip's form

/// What goes out with a file besides its type and tag.
struct AssetHeaders {
  std::string_view cache_control = "no-cache";  ///< Browsers ask each time, and mostly hear that nothing changed.
  std::string_view security_policy = {};        ///< Empty: none, for what is no page's.
};

/// By the end of its name.
std::string_view content_type_of(std::string_view name);

/// The entity tag of bytes: a hash of them, in quotes.
std::string etag_of(std::string_view bytes);

/// 304 with its tag for a client that has these bytes; else the whole file.
http::Response asset_response(const Asset& asset, const std::string& etag, const AssetHeaders& headers, const http::Request& request);

/// Serves one file for ever. `asset` and the texts of `headers` outlive it.
Handler serve_asset(const Asset& asset, const AssetHeaders& headers);

}  // namespace footnote::api
