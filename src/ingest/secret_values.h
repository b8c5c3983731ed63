#pragma once

#include <optional>
#include <string_view>

#include "ingest/secret_scan.h"

namespace footnote::ingest {

/// Shannon entropy of the bytes, in bits per byte.
double entropy_bits(std::string_view text);

inline bool is_ascii_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// A value that a vendor prints in its documentation, or a token that was blotted out: "ghp_xxxx".
bool is_example(std::string_view value);

/// A value that nobody would type as an example: long and mixed enough for a password or a token.
bool looks_random(std::string_view value);

/// The secret that is assigned by the '=', ':' or '>' at `at` (password = "...", <password>...</password>), if any. Looks at a bounded
/// number of bytes around it.
std::optional<Secret> assigned_at(std::string_view text, std::size_t at);

/// The password of the address whose "://" is at `at`, if any.
std::optional<Secret> url_password_at(std::string_view text, std::size_t at);

}  // namespace footnote::ingest
