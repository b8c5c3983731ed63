#include "http/address_rules.h"

#include <array>
#include <cstddef>

namespace footnote::http {

namespace {

template <std::size_t N>
struct Network {
  std::array<unsigned char, N> bytes;
  unsigned prefix_bits;
};

/// Networks of RFC 6890 and similar: URLs chosen by others must not reach them.
constexpr Network<4> kNotPublic4[] = {
    {{0, 0, 0, 0}, 8},     {{10, 0, 0, 0}, 8},      {{100, 64, 0, 0}, 10},  {{127, 0, 0, 0}, 8},    {{169, 254, 0, 0}, 16},
    {{172, 16, 0, 0}, 12}, {{192, 0, 0, 0}, 24},    {{192, 0, 2, 0}, 24},   {{192, 88, 99, 0}, 24}, {{192, 168, 0, 0}, 16},
    {{198, 18, 0, 0}, 15}, {{198, 51, 100, 0}, 24}, {{203, 0, 113, 0}, 24}, {{224, 0, 0, 0}, 4},    {{240, 0, 0, 0}, 4},
};
constexpr Network<16> kNotPublic6[] = {
    {{0}, 128},  // ::
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128},
    {{0}, 96},                                   // IPv4-compatible, obsolete
    {{0x01, 0x00}, 64},                          // discard
    {{0x20, 0x01, 0x00, 0x00}, 32},              // Teredo
    {{0x20, 0x01, 0x0d, 0xb8}, 32},              // documentation
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48},  // local-use NAT64
    {{0xfc}, 7},                                 // unique local
    {{0xfe, 0x80}, 10},                          // link-local
    {{0xfe, 0xc0}, 10},                          // site-local
    {{0xff}, 8},                                 // multicast
};
/// IPv6 networks that embed an IPv4 address, and its offset.
struct Embedding {
  Network<16> network;
  std::size_t at;
};
constexpr Embedding kEmbeddings[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12},  // mapped
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},                    // NAT64
    {{{0x20, 0x02}, 16}, 2},                                 // 6to4
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96}, 12},  // translated
};

template <std::size_t N>
bool contains(const Network<N>& network, std::span<const unsigned char> bytes) {
  return share_prefix(network.bytes, bytes, network.prefix_bits);
}

bool is_public4(std::span<const unsigned char> bytes) {
  for (const auto& network : kNotPublic4) {
    if (contains(network, bytes)) return false;
  }
  return true;
}

bool is_public6(std::span<const unsigned char> bytes) {
  for (const auto& [network, at] : kEmbeddings) {
    if (contains(network, bytes)) return is_public4(bytes.subspan(at, 4));
  }
  for (const auto& network : kNotPublic6) {
    if (contains(network, bytes)) return false;
  }
  return true;
}

}  // namespace

bool share_prefix(std::span<const unsigned char> one, std::span<const unsigned char> other, unsigned bits) {
  for (std::size_t i = 0; bits > 0; ++i) {
    const unsigned here = bits < 8 ? bits : 8;
    const auto mask = static_cast<unsigned char>(0xFF << (8 - here));
    if (((one[i] ^ other[i]) & mask) != 0) return false;
    bits -= here;
  }
  return true;
}

bool is_public_address(std::span<const unsigned char> bytes) {
  if (bytes.size() == 4) return is_public4(bytes);
  return bytes.size() == 16 && is_public6(bytes);
}

}  // namespace footnote::http
