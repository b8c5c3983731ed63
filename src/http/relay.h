#pragma once

#include <optional>
#include <string_view>

#include "base/call_context.h"
#include "base/result.h"
#include "http/client.h"
#include "http/message.h"

namespace footnote::http {

/// Turns an upstream's response into the response of a request, through the ResponseStream it was given to (ResponseStream::relay). Its
/// functions are called one at a time, mostly on the I/O thread, so they must be quick and must not block. Their writes never block:
/// everything is sent to the client before the upstream is read again. An exception counts as a kInternal error and truncates a started
/// stream.
class Relay {
 public:
  virtual ~Relay() = default;
  /// Called once for each upstream request that is answered. An error closes the call and is passed to on_end.
  virtual Result<void> on_head(int status, const Headers& headers) = 0;
  /// Called any number of times with the bytes as they arrive. Errors as for on_head.
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// The call has ended, with its status or an error of Client::stream. kCancelled: the client is gone and output is discarded. Returns the
  /// next upstream request, or nullopt if the response is complete.
  virtual std::optional<ClientRequest> on_end(const Result<int>& ended) = 0;
};

/// Runs a whole relay on the caller's thread, blocking it: for relays that do long work.
void run_relay(const CallContext& call, Client& client, ClientRequest request, Relay& relay);

}  // namespace footnote::http
