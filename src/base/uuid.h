#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace footnote {

/// 128 bits that name something without anybody having to be asked (RFC 9562).
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
};

/// Takes the usual form, the same without hyphens, and "urn:uuid:..."; either case. nullopt for everything else.
std::optional<Uuid> parse_uuid(std::string_view text);
/// "550e8400-e29b-41d4-a716-446655440000"
std::string to_string(const Uuid& uuid);

/// The name-based UUID (version 5) of an address or anything that can be written like one: the same for the same name.
Uuid uuid_of_url(std::string_view name);

}  // namespace footnote
