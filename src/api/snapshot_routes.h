#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/route.h"

namespace footnote::api {

/// Copies the store into the data folder while it is in use, and names the copy.
using CopyStore = std::function<Result<std::string>(const CallContext&)>;

/// POST /api/admin/snapshot, for operators alone: {"copy": NAME}, a file that whoever can read the data folder takes from there. No
/// path comes from the caller, and nothing of the store goes over the wire.
std::vector<Route> make_snapshot_routes(CopyStore copy);

}  // namespace footnote::api
