#include "base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <new>

#include "base/text.h"

namespace footnote {

namespace {

/// With our arguments, OpenSSL fails only if memory is exhausted.
void need_memory(bool done) {
  if (!done) throw std::bad_alloc();
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { need_memory(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
  need_memory(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  return *this;
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  need_memory(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  need_memory(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, message.size(), digest.data(), &size) != nullptr);
  return to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string sha256_hex(std::string_view bytes) { return Sha256().update(bytes).hex(); }

}  // namespace footnote
