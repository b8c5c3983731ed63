#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace footnote::access {

/// The text of an API key: "fn_live_", 30 random characters of [0-9A-Za-z], and a 6-character checksum (their CRC-32 in base 62). The
/// checksum lets scanners and the server reject garbage without a lookup.
inline constexpr std::string_view kKeyPrefix = "fn_live_";
inline constexpr std::size_t kKeyRandomChars = 30;
inline constexpr std::size_t kKeyCheckChars = 6;
inline constexpr std::size_t kKeyChars = kKeyPrefix.size() + kKeyRandomChars + kKeyCheckChars;

/// Creates a key text from the system's random generator.
std::string make_key_text();

/// A token for the owner of the data folder, valid for one run of a server: 256 random bits. Not an API key.
std::string make_owner_text();

/// True if prefix, length, alphabet and checksum are valid. Says nothing about whether the key was ever issued.
bool is_key_text(std::string_view text);

/// The part of a key that may be shown: the prefix and 8 of its 30 random characters.
std::string display_prefix(std::string_view key_text);

}  // namespace footnote::access
