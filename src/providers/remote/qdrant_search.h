#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "http/client.h"

namespace footnote {

struct QdrantSearchOptions {
  std::string url;  ///< "http://qdrant:6333"
  std::string key;  ///< May be empty. Never logged or put in messages.
  std::chrono::milliseconds timeout{30'000};
};

/// A point with the payload fields needed for a source; fields that are missing or not text are empty.
struct RemotePoint {
  double score = 0;
  std::string url;
  std::string title;
  std::string text;
  std::vector<float> vector;
};

/// Nearest-point search on a server with Qdrant's REST API. Uses /points/query, or /points/search on older servers. No retries: a user is
/// waiting. Borrows the client. Thread-safe. kUnavailable: no response, an error, or an unreadable response. kFailedPrecondition: no such
/// collection, or its vectors do not fit. Messages never contain the server's own text.
class QdrantSearch {
 public:
  QdrantSearch(http::Client& client, QdrantSearchOptions options) : client_(client), options_(std::move(options)) {}

  /// Best first.
  Result<std::vector<RemotePoint>> nearest(const CallContext& call, std::string_view collection, std::span<const float> vector,
                                           std::size_t limit);

 private:
  Result<http::Response> post(const CallContext& call, std::string_view collection, std::string_view path, std::string body);
  Result<http::Response> ask(const CallContext& call, std::string_view collection, std::span<const float> vector, std::size_t limit);

  http::Client& client_;
  const QdrantSearchOptions options_;
  std::atomic<bool> only_search_{false};  ///< It does not support /points/query.
};

}  // namespace footnote
