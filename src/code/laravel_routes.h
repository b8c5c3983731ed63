#pragma once

#include <string_view>

#include "code/code_file.h"
#include "code/php_file.h"

namespace footnote::code {

/// Groups nested deeper than this are read as part of the group around them.
inline constexpr int kRouteGroupDepthMax = 32;

/// True for files whose `Route::` calls are routes: below a folder `routes`.
bool is_route_file(std::string_view path);

/// One unit per group and one per route; resources are expanded. The prefix "api" and the middleware of routes/api.php and
/// routes/web.php are those that Laravel's own provider gives them.
void add_route_units(std::string_view path, syntax::Node root, const PhpFile& file, CodeFile& out);

/// "GET /invoices/{}": a method and an address whose parameters have no names, to compare with an operation's.
std::string operation_key(std::string_view method, std::string_view uri);

}  // namespace footnote::code
