// JSON from clients: what parses must print, and the print must parse. (Not to the same bits: the library reads a long
// number to within a unit in its last place.)
#include <cstdint>
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = footnote::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  if (!footnote::parse_json(footnote::to_text(*value))) std::abort();
  return 0;
}
