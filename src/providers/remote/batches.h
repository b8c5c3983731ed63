#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>

#include "base/json.h"

namespace footnote {

/// Maximum number of texts in one request.
inline constexpr std::size_t kTextsPerRequestMax = 100;

/// How many texts a server accepts per request, learned from its rejections. Thread-safe.
class BatchSize {
 public:
  std::size_t get() const { return texts_.load(std::memory_order_relaxed); }
  void set(std::size_t texts) { texts_.store(texts, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> texts_{kTextsPerRequestMax};
};

/// Calls `ask` for [begin, begin + count) until all of `total` are done, in order. On kTooLarge this batch and later ones are halved; a
/// single text that is too large is the caller's error.
Result<void> in_batches(std::size_t total, BatchSize& size, const std::function<Result<void>(std::size_t begin, std::size_t count)>& ask);

/// A text as it can be sent: servers reject an empty text, so a space is sent instead.
std::string_view sendable(std::string_view text);
/// The texts of one batch, each sendable.
JsonArray sendable_list(std::span<const std::string_view> texts);

}  // namespace footnote
