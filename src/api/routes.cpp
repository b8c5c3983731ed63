#include "api/routes.h"

#include <algorithm>
#include <iterator>

#include "api/kb_routes.h"
#include "api/ops_routes.h"
#include "api/page_routes.h"

namespace footnote::api {

std::vector<http::Route> make_routes(const Services& services) {
  std::vector<http::Route> routes = make_kb_routes(services);
  for (auto more : {make_page_routes(services), make_ops_routes(services)}) {
    std::ranges::move(more, std::back_inserter(routes));
  }
  routes.push_back(make_openapi_route(routes, services.version));
  return routes;
}

}  // namespace footnote::api
