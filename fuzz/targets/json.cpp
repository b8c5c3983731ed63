// JSON from clients and upstreams: limits hold, whatever parses can be printed, and the printed text parses to the same value.
#include "base/json.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "target.h"

namespace footnote {
namespace {

/// The nesting depth, found by looking only at brackets and strings. REQUIRES: `text` is JSON.
std::size_t depth_of(std::string_view text) {
  std::size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        quoted = false;
      }
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == '[' || text[i] == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (text[i] == ']' || text[i] == '}') {
      --depth;
    }
  }
  return deepest;
}

/// The library parses a long number with an error of about one unit in the last place.
bool near(double a, double b) { return a == b || std::abs(a - b) <= 1e-14 * std::max(std::abs(a), std::abs(b)); }

bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return near(a.to_number<double>(), b.to_number<double>());
  if (a.is_array() && b.is_array()) return std::ranges::equal(a.get_array(), b.get_array(), same);
  if (a.is_object() && b.is_object()) {
    const auto same_entry = [](const auto& x, const auto& y) { return x.key() == y.key() && same(x.value(), y.value()); };
    return std::ranges::equal(a.get_object(), b.get_object(), same_entry);
  }
  return a == b;
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view text = fuzz::as_text(data, size);
  const auto value = parse_json(text);
  if (!value) {
    FOOTNOTE_ASSERT(value.error().code == ErrorCode::kInvalidArgument && is_valid_utf8(value.error().message));
    return 0;
  }
  FOOTNOTE_ASSERT(is_valid_utf8(text));
  FOOTNOTE_ASSERT(depth_of(text) <= kJsonDepthMax);
  const std::string printed = to_text(*value);
  FOOTNOTE_ASSERT(is_valid_utf8(printed) && printed.find_first_of("\r\n") == std::string::npos);
  FOOTNOTE_ASSERT(printed.size() <= 6 * size + 32);
  const auto again = parse_json(printed);
  FOOTNOTE_ASSERT(again.has_value());
  FOOTNOTE_ASSERT(same(*value, *again));
  return 0;
}
