#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

/// Which hosts, addresses and ports may be fetched: the public internet on a few ports, and what an operator allows beyond it.
class AddressPolicy {
 public:
  /// The public internet on ports 80 and 443.
  AddressPolicy() = default;

  /// `ports`: comma-separated numbers. `allow`: comma-separated entries HOST, *.DOMAIN, ADDRESS or ADDRESS/BITS, each with an optional
  /// :PORT or :* (any port); IPv6 with a port in brackets. An entry opens private addresses too. kInvalidArgument names the bad entry.
  static Result<AddressPolicy> parse(std::string_view ports, std::string_view allow);

  /// Before a name is resolved: whether any address could be allowed on this port.
  bool allows_port(std::uint16_t port) const;
  /// The resolved address, in network byte order, 4 or 16 bytes.
  bool allows(std::string_view host, std::span<const unsigned char> address, std::uint16_t port) const;

 private:
  struct Entry {
    std::string host;                    ///< "wiki.corp", or ".corp" for every name below it; empty: an address.
    std::vector<unsigned char> address;  ///< 4 or 16 bytes.
    unsigned bits = 0;
    std::uint16_t port = 0;
    bool any_port = false;
  };
  static Result<Entry> parse_entry(std::string_view text);
  bool opens_port(const Entry& entry, std::uint16_t port) const;
  bool is_public_port(std::uint16_t port) const;

  std::vector<std::uint16_t> ports_{80, 443};
  std::vector<Entry> allow_;
};

}  // namespace footnote
