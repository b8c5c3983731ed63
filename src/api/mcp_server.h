#pragma once

#include <optional>
#include <string>

#include "access/caller.h"
#include "api/project_routes.h"
#include "base/json.h"
#include "http/message.h"
#include "points/memories.h"

namespace footnote::api {

/// The newest revision with a handshake, and the one without.
inline constexpr std::string_view kMcpLegacyVersion = "2025-11-25";
inline constexpr std::string_view kMcpModernVersion = "2026-07-28";

struct McpServices {
  ProjectServices projects;
  points::Memories& memories;
  std::string version;
};

/// The answer to one message. No body: a notification, which has none.
struct McpReply {
  int status = 200;
  std::optional<Json> body;
};

/// Answers one JSON-RPC message of the Model Context Protocol, of either era: a request whose params._meta names a protocol version is
/// modern (stateless), every other one belongs to a client that shook hands. No state is kept between messages. `headers` are those of an
/// HTTP request, null on other transports. Failures of a tool are results with isError.
McpReply answer_mcp(const McpServices& services, const access::Caller& caller, const Json& message, const http::Headers* headers,
                    const CallContext& call);

/// POST /mcp. Without sessions and server push: GET and DELETE are 405.
std::vector<Route> make_mcp_routes(const McpServices& services);

}  // namespace footnote::api
