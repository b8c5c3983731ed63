#include "providers/remote/batches.h"

#include <algorithm>

namespace footnote {

Result<void> in_batches(std::size_t total, BatchSize& size, const std::function<Result<void>(std::size_t begin, std::size_t count)>& ask) {
  for (std::size_t begin = 0; begin < total;) {
    const std::size_t count = std::min(size.get(), total - begin);
    const auto done = ask(begin, count);
    if (done) {
      begin += count;
    } else if (done.error().code == ErrorCode::kTooLarge && count > 1) {
      size.set(count / 2);
    } else {
      return done;
    }
  }
  return {};
}

std::string_view sendable(std::string_view text) { return text.empty() ? std::string_view(" ") : text; }

JsonArray sendable_list(std::span<const std::string_view> texts) {
  JsonArray out;
  out.reserve(texts.size());
  for (const std::string_view text : texts) out.push_back(Json(sendable(text)));
  return out;
}

}  // namespace footnote
