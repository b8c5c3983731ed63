#pragma once

#include <optional>
#include <string_view>

#include "base/call_context.h"
#include "base/result.h"
#include "http/client.h"
#include "http/message.h"

namespace footnote::http {

/// Makes the answer of a request from an upstream's answer, by the ResponseStream that it was handed to (ResponseStream::relay). Its
/// functions are called one at a time, most on the I/O thread: they must not wait, nor work long on one piece. What they write waits for
/// no room: before the upstream is read again, everything goes to the client. An exception counts as an error of
/// kInternal, and cuts a stream that has begun.
class Relay {
 public:
  virtual ~Relay() = default;
  /// Once for each request that was answered. An error closes the call and goes to on_end.
  virtual Result<void> on_head(int status, const Headers& headers) = 0;
  /// Any number of times, with what has come so far. An error as before.
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// The call has ended: with its status, or with an error of Client::stream. kCancelled: the client is gone, nobody hears what is written.
  /// What it returns is asked next; nullopt: the answer is complete.
  virtual std::optional<ClientRequest> on_end(const Result<int>& ended) = 0;
};

/// Runs a relay whole on the caller's thread, which blocks: for one that works long, where there is a thread for it.
void run_relay(const CallContext& call, Client& client, ClientRequest request, Relay& relay);

}  // namespace footnote::http
