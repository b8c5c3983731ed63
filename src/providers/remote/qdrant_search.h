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
  std::string key;  ///< May be empty. Never logged, never in a message.
  std::chrono::milliseconds timeout{30'000};
};

/// A point with the payload's parts that a source is made of; parts that are not there, or no text, are empty.
struct RemotePoint {
  double score = 0;
  std::string url;
  std::string title;
  std::string text;
  std::vector<float> vector;
};

/// Nearest points of collections on a server that speaks Qdrant's REST. Newer servers are asked by /points/query, those that do not know it
/// by /points/search. Not tried again: somebody waits. Borrows the client. Thread-safe. kUnavailable: it does not answer, refuses, or sends
/// what can't be read. kFailedPrecondition: it has no such collection, or one of other vectors. The server's own words are in no message.
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
  std::atomic<bool> only_search_{false};  ///< It does not know /points/query.
};

}  // namespace footnote
