#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace footnote {

/// A row id whose type tells what it identifies, so that ids of different kinds do not mix. 0 means "none yet".
template <class Tag>
struct Id {
  std::int64_t value = 0;

  explicit operator bool() const { return value != 0; }
  auto operator<=>(const Id&) const = default;
};

/// An unguessable id given to clients ("conv_8Jx..."), typed by what it identifies. Empty means "none yet".
template <class Tag>
struct TextId {
  std::string value;

  explicit operator bool() const { return !value.empty(); }
  auto operator<=>(const TextId&) const = default;
};

/// `count` random characters of [0-9A-Za-z] from the system's random generator (about 5.95 bits each).
std::string random_base62(std::size_t count);

/// `bytes` random bytes as hexadecimal digits. REQUIRES: bytes <= 32.
std::string random_hex(std::size_t bytes);

/// 128 random bits as 32 hexadecimal digits, for request ids.
std::string random_hex128();

}  // namespace footnote

template <class Tag>
struct std::hash<footnote::Id<Tag>> {
  std::size_t operator()(footnote::Id<Tag> id) const noexcept { return std::hash<std::int64_t>{}(id.value); }
};

template <class Tag>
struct std::hash<footnote::TextId<Tag>> {
  std::size_t operator()(const footnote::TextId<Tag>& id) const noexcept { return std::hash<std::string>{}(id.value); }
};
