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
/// Of a conversation that is taken up again: turns, two messages each.
inline constexpr std::size_t kResumedTurnsMax = 15;

/// An error of this door as its clients know it: {"error":{"code","message"}}.
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
  std::string token = {};  ///< An earlier one of this visitor.
  bool playground = false;
};
Result<InitRequest> parse_init(const http::Request& request);

struct MessageRequest {
  std::string text;
  std::string page_url = {};  ///< Canonical; empty: none was sent, or no good one.
  std::optional<answer::PageContext> page = {};
  bool page_was_dropped = false;
};
/// A message past kVisitorMessageCharsMax is kInvalidArgument; a page_context past answer::kPageContextBytesMax is left out; one of another
/// form counts as far as it reads.
Result<MessageRequest> parse_message(const http::Request& request);

/// Whether a page of that origin may use the agent: one of `allowed`, exactly or as a sub-domain of "https://*.shop.example"; with none
/// allowed, pages of the server's own host.
bool is_allowed_origin(const std::vector<std::string>& allowed, std::string_view origin, std::string_view host);

/// What an answer cites: one entry a source, with the first characters of it that were found to carry a sentence.
JsonArray render_visitor_citations(const Answer& answer, CitedTexts& texts);
/// {"role","message_id","content","citations","feedback"} of both sides of each turn, oldest first.
JsonArray render_messages(const std::vector<Turn>& turns, CitedTexts& texts);
/// The agent as the widget shows it.
JsonObject render_agent(const PublishedAgent& agent, std::string_view language);

/// The last event of a turn that ended well.
JsonObject render_done(const answer::TurnReport& report);
/// Of one that did not; the provider's own words stay here.
JsonObject render_stream_error(const Error& error);

}  // namespace footnote::api
