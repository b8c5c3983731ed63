#pragma once

#include <cstddef>

#include "config/settings.h"
#include "http/server.h"

namespace footnote::app {

/// Raises this process's limit of open descriptors as far as the system allows, and returns it.
std::size_t raise_descriptor_limit();

/// The default number of requests processed at once. Workers that mostly wait for other servers (`waits`) may be many. Workers that compute
/// are limited to what the cores can serve in a few seconds; with more, all would be late.
unsigned workers_for(bool waits, unsigned cores);

/// How many connections, at most `wanted`, fit the descriptor limit. `own` descriptors are reserved for the store, the listener and calls
/// to other servers.
std::size_t connections_within(std::size_t descriptors, std::size_t own, std::size_t wanted);

/// Server options from the settings. Raises the descriptor limit, and logs if it is too low. kInvalidArgument: a malformed list of hosts or
/// origins.
Result<http::ServerOptions> make_server_options(const Settings& settings);

}  // namespace footnote::app
