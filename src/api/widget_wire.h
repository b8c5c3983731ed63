#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer/page_context.h"
#include "answer/turn_report.h"
#include "api/kb_wire.h"
#include "base/json.h"
#include "domain/agent.h"
#include "http/message.h"

namespace footnote::api {

inline constexpr std::size_t kVisitorMessageCharsMax = 4'000;
inline constexpr std::size_t kWidgetBodyBytesMax = 256 << 10;
/// Maximum turns returned for a resumed conversation; a turn is two messages.
inline constexpr std::size_t kResumedTurnsMax = 15;

/// An error in this API's format: {"error":{"code","message"}}.
struct WidgetError {
  int status = 422;
  std::string_view code = "invalid_request";
  std::string message;
};
http::Response render(const WidgetError& error);

struct InitRequest {
  AgentId agent;
  std::string page_url = {};
  std::string locale = {};
  std::string token = {};  ///< This visitor's earlier token.
  bool playground = false;
};
Result<InitRequest> parse_init(const http::Request& request);

struct MessageRequest {
  std::string text;
  std::string page_url = {};  ///< Canonical; empty: missing or invalid.
  std::optional<answer::PageContext> page = {};
  bool page_was_dropped = false;
};
/// A message longer than kVisitorMessageCharsMax is kInvalidArgument; a page_context larger than answer::kPageContextBytesMax is dropped; a
/// malformed one is used as far as it parses.
Result<MessageRequest> parse_message(const http::Request& request);

/// Whether a page of that origin may use the agent: it matches one of `allowed`, exactly or as a sub-domain of "https://*.shop.example"; if
/// none are allowed, only pages of the server's own host.
bool is_allowed_origin(const std::vector<std::string>& allowed, std::string_view origin, std::string_view host);

/// The citations of an answer: one entry per source, with the beginning of a passage that supports a sentence.
JsonArray render_visitor_citations(const Answer& answer, CitedTexts& texts);
/// {"role","message_id","content","citations","feedback"} for both sides of each turn, oldest first.
JsonArray render_messages(const std::vector<Turn>& turns, CitedTexts& texts);
/// The agent's public settings for the widget.
JsonObject render_agent(const PublishedAgent& agent, std::string_view language);

/// The last event of a successful turn.
JsonObject render_done(const answer::TurnReport& report);
/// The last event of a failed turn; the provider's message is not included.
JsonObject render_stream_error(const Error& error);

}  // namespace footnote::api
