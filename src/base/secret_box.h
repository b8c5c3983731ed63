#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// Encrypts short texts with a key (AES-256-GCM), so that whoever gets a copy of what they are stored in, but not the key, learns nothing
/// but their lengths, and can't put one in another's place. Thread-safe.
class SecretBox {
 public:
  /// The key in this file, 32 random bytes in hexadecimal, for this user alone; makes it where there is none.
  /// Errors of read_file and write_file_atomically; kCorrupted: the file holds no key.
  static Result<SecretBox> open(const std::filesystem::path& key_file);

  /// "sealed1:" and base64. `context` is where the text belongs: it opens with the same context alone.
  Result<std::string> seal(std::string_view text, std::string_view context) const;
  /// kCorrupted: sealed by another key or for another context, or damaged.
  Result<std::string> unseal(std::string_view sealed, std::string_view context) const;

  static bool is_sealed(std::string_view text);

 private:
  explicit SecretBox(std::string key) : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace footnote
