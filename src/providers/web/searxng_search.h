#pragma once

#include <chrono>
#include <string>

#include "http/client.h"
#include "ports/web_search.h"

namespace footnote {

struct SearxngOptions {
  std::string url;  ///< "http://searxng:8080"
  std::chrono::milliseconds timeout{15'000};
};

/// A SearxNG server, whose JSON format must be switched on. Its address is the operator's, so it may be private. kUnavailable: no usable
/// response; the message says what to change if the server refuses the format.
class SearxngSearch final : public WebSearch {
 public:
  /// Borrows the client.
  SearxngSearch(http::Client& client, SearxngOptions options) : client_(client), options_(std::move(options)) {}

  Result<std::vector<WebResult>> search(const CallContext& call, std::string_view query, std::string_view language,
                                        std::size_t limit) override;

 private:
  http::Client& client_;
  const SearxngOptions options_;
};

}  // namespace footnote
