#include "http/relay.h"

namespace footnote::http {

void run_relay(const CallContext& call, Client& client, ClientRequest request, Relay& relay) {
  std::optional<ClientRequest> next = std::move(request);
  while (next) {
    next = relay.on_end(client.stream(
        call, *next, [&](int status, const Headers& headers) { return relay.on_head(status, headers); },
        [&](std::string_view bytes) { return relay.on_body(bytes); }));
  }
}

}  // namespace footnote::http
