#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace footnote {

/// A 128-bit identifier that needs no central registry (RFC 9562).
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
};

/// Accepts the usual form, the form without hyphens, and "urn:uuid:..."; in either case. nullopt for anything else.
std::optional<Uuid> parse_uuid(std::string_view text);
/// "550e8400-e29b-41d4-a716-446655440000"
std::string to_string(const Uuid& uuid);

/// The name-based UUID (version 5) in the URL namespace: equal names give equal UUIDs.
Uuid uuid_of_url(std::string_view name);

}  // namespace footnote
