#pragma once

#include <cstddef>

#include "config/settings.h"
#include "http/server.h"

namespace footnote::app {

/// Raises this process's limit of open descriptors to the most that the system grants it, and tells that.
std::size_t raise_descriptor_limit();

/// How many requests are worked on at once when the settings leave it open. Where workers wait for other servers (`waits`), many can be
/// under way. Where they compute, more than the cores can do in a few seconds would all be late together.
unsigned workers_for(bool waits, unsigned cores);

/// How many connections a limit of descriptors leaves room for, of those that are wanted: `own` are kept for the store, the listener and
/// calls to other servers.
std::size_t connections_within(std::size_t descriptors, std::size_t own, std::size_t wanted);

/// What the settings say of the server. Raises the limit of descriptors, and says in the log when it does not reach.
/// kInvalidArgument: a list of hosts or origins that is none.
Result<http::ServerOptions> make_server_options(const Settings& settings);

}  // namespace footnote::app
