#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace footnote::access {

/// A key as people hold it: "fn_live_", 30 random characters of [0-9A-Za-z], and 6 more that check those (their
/// CRC-32 in base 62). The check lets scanners and the server tell garbage without a look-up.
inline constexpr std::string_view kKeyPrefix = "fn_live_";
inline constexpr std::size_t kKeyRandomChars = 30;
inline constexpr std::size_t kKeyCheckChars = 6;
inline constexpr std::size_t kKeyChars = kKeyPrefix.size() + kKeyRandomChars + kKeyCheckChars;

/// A fresh one, from the system's generator.
std::string make_key_text();

/// A token for whoever owns the data folder, good for one life of a server: 256 random bits. Never a key.
std::string make_owner_text();

/// Prefix, length, alphabet and check are right. Says nothing about whether such a key was ever given out.
bool is_key_text(std::string_view text);

/// What may be shown of a key: the prefix and 8 of its 30 random characters.
std::string display_prefix(std::string_view key_text);

}  // namespace footnote::access
