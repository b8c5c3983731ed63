#include "base/secret_box.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "base/base64.h"
#include "base/file.h"
#include "base/text.h"

namespace footnote {

namespace {

// sealed := "sealed1:" base64(nonce[12] ciphertext tag[16])
constexpr std::string_view kMark = "sealed1:";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
int length_of(std::string_view text) { return static_cast<int>(text.size()); }

std::unexpected<Error> does_not_open() {
  return fail(ErrorCode::kCorrupted, "a stored secret can't be read: it belongs to another key file");
}

std::optional<std::string> bytes_of_hex(std::string_view hex) {
  std::string out;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    const auto high = hex_digit(hex[at]);
    const auto low = hex_digit(hex[at + 1]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
  }
  return out;
}

}  // namespace

Result<SecretBox> SecretBox::open(const std::filesystem::path& key_file) {
  constexpr std::uint64_t kFileBytesMax = 256;
  const auto text = read_file(key_file, kFileBytesMax);
  if (!text && text.error().code != ErrorCode::kNotFound) return std::unexpected(text.error());
  if (text) {
    auto key = bytes_of_hex(trim(*text));
    if (!key || key->size() != kKeyBytes)
      return fail(ErrorCode::kCorrupted, "{} holds no key; restore it from a snapshot", key_file.string());
    keep_private(key_file);
    return SecretBox(*std::move(key));
  }
  std::string key(kKeyBytes, '\0');
  if (RAND_bytes(bytes_of(key), length_of(key)) != 1) return fail(ErrorCode::kInternal, "the system gives no random numbers");
  FOOTNOTE_CHECK(write_file_atomically(key_file, to_hex(key) + "\n"));
  return SecretBox(std::move(key));
}

Result<std::string> SecretBox::seal(std::string_view text, std::string_view context) const {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string nonce(kNonceBytes, '\0');
  std::string sealed(text.size(), '\0');
  std::string tag(kTagBytes, '\0');
  int written = 0;
  int rest = 0;
  const bool done = cipher && RAND_bytes(bytes_of(nonce), length_of(nonce)) == 1 &&
                    EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(std::string_view(key_)),
                                       bytes_of(std::string_view(nonce))) == 1 &&
                    EVP_EncryptUpdate(cipher.get(), nullptr, &rest, bytes_of(context), length_of(context)) == 1 &&
                    EVP_EncryptUpdate(cipher.get(), bytes_of(sealed), &written, bytes_of(text), length_of(text)) == 1 &&
                    EVP_EncryptFinal_ex(cipher.get(), bytes_of(sealed) + written, &rest) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, length_of(tag), tag.data()) == 1;
  if (!done) return fail(ErrorCode::kInternal, "a secret could not be encrypted");
  std::string out(kMark);
  append_base64(out, nonce + sealed + tag);
  return out;
}

Result<std::string> SecretBox::unseal(std::string_view text, std::string_view context) const {
  if (!is_sealed(text)) return does_not_open();
  const auto bytes = decode_base64(text.substr(kMark.size()));
  if (!bytes || bytes->size() < kNonceBytes + kTagBytes) return does_not_open();
  const std::string_view nonce = std::string_view(*bytes).substr(0, kNonceBytes);
  const std::string_view sealed = std::string_view(*bytes).substr(kNonceBytes, bytes->size() - kNonceBytes - kTagBytes);
  std::string tag = bytes->substr(bytes->size() - kTagBytes);
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string out(sealed.size(), '\0');
  int written = 0;
  int rest = 0;
  const bool done = cipher &&
                    EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(std::string_view(key_)), bytes_of(nonce)) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), nullptr, &rest, bytes_of(context), length_of(context)) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), bytes_of(out), &written, bytes_of(sealed), length_of(sealed)) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, length_of(tag), tag.data()) == 1 &&
                    EVP_DecryptFinal_ex(cipher.get(), bytes_of(out) + written, &rest) == 1;
  if (!done) return does_not_open();
  return out;
}

bool SecretBox::is_sealed(std::string_view text) { return text.starts_with(kMark); }

}  // namespace footnote
