#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// Encrypts short texts with AES-256-GCM. Without the key, a copy of the stored texts reveals only their lengths, and no text can be
/// swapped for another. Thread-safe.
class SecretBox {
 public:
  /// Reads the key (32 random bytes in hexadecimal) from this file, or creates the file, readable by this user only.
  /// Errors of read_file and write_file_atomically; kCorrupted: the file contains no key.
  static Result<SecretBox> open(const std::filesystem::path& key_file);

  /// Returns "sealed1:" and base64. `context` says where the text belongs; unseal() needs the same one.
  Result<std::string> seal(std::string_view text, std::string_view context) const;
  /// kCorrupted: sealed by another key or for another context, or damaged.
  Result<std::string> unseal(std::string_view sealed, std::string_view context) const;

  static bool is_sealed(std::string_view text);

 private:
  explicit SecretBox(std::string key) : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace footnote
