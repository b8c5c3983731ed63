// JSON from clients: what parses must print, and the print must parse to the same value.
#include <cstdint>
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = footnote::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  const std::string text = footnote::to_text(*value);
  const auto again = footnote::parse_json(text);
  if (!again || footnote::to_text(*again) != text) std::abort();
  return 0;
}
