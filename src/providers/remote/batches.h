#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>

#include "base/json.h"

namespace footnote {

/// Texts of one request to a server.
inline constexpr std::size_t kTextsPerRequestMax = 100;

/// How many texts a server takes at once, learned from its refusals. Thread-safe.
class BatchSize {
 public:
  std::size_t get() const { return texts_.load(std::memory_order_relaxed); }
  void set(std::size_t texts) { texts_.store(texts, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> texts_{kTextsPerRequestMax};
};

/// Calls `ask` for [begin, begin + count) until all of `total` are done, in order. Where it says kTooLarge the batch is halved,
/// and so are later ones; a single text that is too large is the caller's error.
Result<void> in_batches(std::size_t total, BatchSize& size, const std::function<Result<void>(std::size_t begin, std::size_t count)>& ask);

/// A text as it can be sent: servers refuse an empty one, so that goes as a space.
std::string_view sendable(std::string_view text);
/// The texts of one batch, each sendable.
JsonArray sendable_list(std::span<const std::string_view> texts);

}  // namespace footnote
