#include "http/forwarded.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/text.h"
#include "http/address_rules.h"
#include "http/detail_asio.h"

namespace footnote::http {

namespace {

using Bytes = std::array<unsigned char, 16>;

std::optional<asio::ip::address> parse_address(std::string_view text) {
  SystemError error;
  const auto address = asio::ip::make_address(std::string(text), error);
  if (error || (address.is_v6() && address.to_v6().scope_id() != 0)) return std::nullopt;
  return address;
}

Bytes bytes_of(const asio::ip::address& address) {
  return address.is_v6() ? address.to_v6().to_bytes() : asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()).to_bytes();
}

Result<AddressRange> parse_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  unsigned bits = 0;
  if (address && slash != std::string_view::npos) {
    bits = parse_whole_number<unsigned>(text.substr(slash + 1)).value_or(129);
  } else if (address) {
    bits = address->is_v4() ? 32 : 128;
  }
  if (!address || bits > (address->is_v4() ? 32U : 128U)) {
    return fail(ErrorCode::kInvalidArgument, "'{}' is not an address or range: write 10.0.0.1, 10.0.0.0/8 or fd00::/8", text);
  }
  return AddressRange{bytes_of(*address), address->is_v4() ? bits + 96 : bits};
}

}  // namespace

Result<std::vector<AddressRange>> parse_address_ranges(std::string_view text) {
  std::vector<AddressRange> out;
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) continue;
    FOOTNOTE_TRY(const AddressRange range, parse_range(trim(part)));
    out.push_back(range);
  }
  return out;
}

std::string client_network(std::string_view text) {
  SystemError error;
  const auto address = asio::ip::make_address(std::string(text), error);
  if (error) return std::string(text);
  if (address.is_v4()) return address.to_string();
  const auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::make_address_v6(bytes).to_string() + "/64";
}

std::string client_address(std::string_view peer, const Headers& headers, const std::vector<AddressRange>& trusted) {
  const auto is_trusted = [&](const asio::ip::address& address) {
    const Bytes bytes = bytes_of(address);
    return std::ranges::any_of(trusted, [&](const AddressRange& range) { return share_prefix(range.bytes, bytes, range.prefix_bits); });
  };
  auto address = parse_address(peer);
  if (trusted.empty() || !address || !is_trusted(*address)) return std::string(peer);
  std::vector<std::string_view> hops;
  for (const auto& [name, value] : headers) {
    if (to_lower_ascii(name) != "x-forwarded-for") continue;
    for (const std::string_view hop : split(value, ',')) hops.push_back(trim(hop));
  }
  for (const std::string_view hop : hops | std::views::reverse) {
    const auto next = parse_address(hop);
    if (!next) break;
    address = next;
    if (!is_trusted(*address)) break;
  }
  return address->to_string();
}

}  // namespace footnote::http
