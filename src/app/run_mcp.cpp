#include <unistd.h>

#include <cerrno>

#include "app/commands.h"
#include "app/open_link.h"
#include "base/json.h"
#include "base/text.h"

namespace footnote::app {
namespace {

constexpr std::size_t kMessageBytesMax = 1 << 20;
constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::string_view kMcpTarget = "/mcp?transport=stdio";

/// An error that concerns no request that could be read.
std::string rpc_error(int code, std::string_view text) {
  return to_text(JsonObject{{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", JsonObject{{"code", code}, {"message", text}}}});
}

std::string rpc_failure(const Json& message, const Error& error) {
  const JsonObject* object = message.if_object();
  const Json* id = object != nullptr ? object->if_contains("id") : nullptr;
  return to_text(JsonObject{{"jsonrpc", "2.0"},
                            {"id", id != nullptr ? *id : Json(nullptr)},
                            {"error", JsonObject{{"code", -32603}, {"message", error.message}}}});
}

/// The line to write for one message; empty for a notification.
std::string answer_line(cli::Link& link, const CallContext& call, std::string_view line) {
  const auto message = parse_request_json(line);
  if (!message) return rpc_error(-32700, message.error().message);
  std::string out;
  const auto sent = link.exchange(call, http::Method::kPost, kMcpTarget, &*message, [&](std::string_view bytes) -> Result<void> {
    out += bytes;
    return {};
  });
  return sent ? out : rpc_failure(*message, sent.error());
}

void write_line(std::string line) {
  if (!line.empty()) cli::write_out(line + "\n");
}

}  // namespace

Result<int> run_mcp(const cli::CommandContext& context) {
  FOOTNOTE_TRY(const auto link, open_link(context, {.needs = Needs::kIndexes, .missing = Missing::kCreate}));
  std::string pending;
  std::string buffer(kReadBytes, '\0');
  bool skipping = false;
  while (context.call.check()) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return cli::kExitOk;
    pending.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', begin)) {
      const std::string_view line = trim(std::string_view(pending).substr(begin, end - begin));
      begin = end + 1;
      if (skipping) {
        skipping = false;
        continue;
      }
      if (!line.empty()) write_line(answer_line(*link, context.call, line));
    }
    pending.erase(0, begin);
    if (pending.size() > kMessageBytesMax) {
      if (!skipping) write_line(rpc_error(-32600, "a message has at most 1 MiB"));
      skipping = true;
      pending.clear();
    }
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
