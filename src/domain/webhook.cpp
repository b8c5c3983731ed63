#include "domain/webhook.h"

#include <algorithm>

#include "base/page_url.h"

namespace footnote {

Result<void> check_webhook(const WebhookEndpoint& endpoint) {
  if (!canonical_url(endpoint.url) || endpoint.url.find('#') != std::string::npos) {
    return fail_field(ErrorCode::kInvalidArgument, "url", "'url' must be an http or https URL without a user name or a '#'");
  }
  if (endpoint.events.empty()) return fail_field(ErrorCode::kInvalidArgument, "events", "'events' must name at least one event");
  for (const std::string& event : endpoint.events) {
    if (std::ranges::find(kWebhookEvents, event) == std::end(kWebhookEvents)) {
      return fail_field(ErrorCode::kInvalidArgument, "events", "'{}' is not an event; valid are {}, {} and {}", event, kTurnCompleted,
                        kGapOpened, kSourceIndexed);
    }
    if (std::ranges::count(endpoint.events, event) > 1) {
      return fail_field(ErrorCode::kInvalidArgument, "events", "'events' names {} twice", event);
    }
  }
  return {};
}

}  // namespace footnote
