#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/call_context.h"

namespace footnote {

/// Bytes under a key for a while. A cache may forget at any time and never fails: what it can't do is a miss.
/// `tag` groups entries so that one call drops them all (a corpus, an agent). Thread-safe.
class Cache {
 public:
  virtual ~Cache() = default;
  virtual std::optional<std::string> get(const CallContext& call, std::string_view key) = 0;
  virtual void put(const CallContext& call, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) = 0;
  virtual void drop_tag(const CallContext& call, std::string_view tag) = 0;
};

}  // namespace footnote
