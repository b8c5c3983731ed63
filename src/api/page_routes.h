#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// A file of web/ inside the binary. `etag` is a hash of its bytes.
struct Asset {
  std::string_view name;  ///< "index.html"
  std::string_view bytes;
};

/// All of them; made by the build from web/first.
std::span<const Asset> embedded_assets();

/// `/` and its assets, under a content security policy that lets nothing foreign in; /api/examples.
std::vector<Route> make_page_routes(const Services& services);

}  // namespace footnote::api
