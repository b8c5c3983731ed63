#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/call_context.h"

namespace footnote {

/// Stores bytes under a key for a limited time. A cache may evict at any time and never fails: errors are misses. `tag` groups entries (a
/// corpus, an agent) so that one call drops them all. Thread-safe.
class Cache {
 public:
  virtual ~Cache() = default;
  virtual std::optional<std::string> get(const CallContext& call, std::string_view key) = 0;
  virtual void put(const CallContext& call, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) = 0;
  virtual void drop_tag(const CallContext& call, std::string_view tag) = 0;
};

}  // namespace footnote
