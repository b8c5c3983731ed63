#pragma once

#include <span>
#include <string_view>

#include "api/mcp_server.h"

namespace footnote::api {

/// The text of a tool's result has at most this many bytes (about 6,000 tokens); `next_cursor` continues.
inline constexpr std::size_t kToolTextBytesMax = 24'000;

/// What a tool gives: a text for the model, and the same as data.
struct ToolResult {
  std::string text;
  JsonObject data;
};

struct McpTool {
  std::string_view name;
  std::string_view description;
  std::string_view input_schema;  ///< JSON.
  KeyScope scope;
  bool writes = false;
  Result<ToolResult> (*run)(const McpServices&, const access::Caller&, const Json& arguments, const CallContext&);
};

std::span<const McpTool> mcp_tools();

/// repo://{project}/{path}: the indexed text of a file; "#L3-L9" selects lines. kNotFound.
Result<std::string> read_repo_resource(const McpServices& services, const access::Caller& caller, std::string_view uri,
                                       const CallContext& call);

}  // namespace footnote::api
