#include "base/ids.h"

#include <openssl/rand.h>

#include <array>
#include <new>

#include "base/assert.h"
#include "base/text.h"

namespace footnote {

std::string random_base62(std::size_t count) {
  static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string out;
  out.reserve(count);
  std::array<unsigned char, 64> bytes{};
  while (out.size() < count) {
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
      throw std::bad_alloc();  // RAND_bytes fails only if memory is exhausted
    for (unsigned char byte : bytes) {
      // 248 == 4 * 62: larger bytes would bias the first digits.
      if (byte < 248 && out.size() < count) out.push_back(kDigits[byte % 62]);
    }
  }
  return out;
}

std::string random_hex(std::size_t bytes) {
  std::array<unsigned char, 32> random{};
  FOOTNOTE_ASSERT(bytes <= random.size());
  if (RAND_bytes(random.data(), static_cast<int>(bytes)) != 1) throw std::bad_alloc();  // RAND_bytes fails only if memory is exhausted
  return to_hex({reinterpret_cast<const char*>(random.data()), bytes});
}

std::string random_hex128() { return random_hex(16); }

}  // namespace footnote
