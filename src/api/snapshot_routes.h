#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/route.h"

namespace footnote::api {

/// Copies the store into the data folder while it is in use, and returns the copy's name.
using CopyStore = std::function<Result<std::string>(const CallContext&)>;

/// POST /api/admin/snapshot, operators only: {"copy": NAME}, a file in the data folder, for callers that can read that folder. Takes no
/// path from the caller and sends no stored data over the network.
std::vector<Route> make_snapshot_routes(CopyStore copy);

}  // namespace footnote::api
