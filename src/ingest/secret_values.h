#pragma once

#include <optional>
#include <string_view>

#include "ingest/secret_scan.h"

namespace footnote::ingest {

/// Shannon entropy of the bytes, in bits per byte.
double entropy_bits(std::string_view text);

inline bool is_ascii_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// An example value from a vendor's documentation, or a redacted token: "ghp_xxxx".
bool is_example(std::string_view value);

/// Long and mixed enough to be a real password or token rather than a made-up example.
bool looks_random(std::string_view value);

/// The secret assigned by the '=', ':' or '>' at `at` (password = "...", <password>...</password>), if any. Reads a bounded number of bytes
/// around it.
std::optional<Secret> assigned_at(std::string_view text, std::size_t at);

/// The password in the URL whose "://" is at `at`, if any.
std::optional<Secret> url_password_at(std::string_view text, std::size_t at);

}  // namespace footnote::ingest
