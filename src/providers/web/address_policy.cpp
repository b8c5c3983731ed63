#include "providers/web/address_policy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "http/address_rules.h"

namespace footnote {

namespace {

/// The bytes of an IPv4 or IPv6 address; empty if it is none.
std::vector<unsigned char> address_bytes(std::string_view text) {
  std::vector<unsigned char> out(16);
  const std::string copy(text);
  if (::inet_pton(AF_INET6, copy.c_str(), out.data()) == 1) return out;
  out.resize(4);
  if (::inet_pton(AF_INET, copy.c_str(), out.data()) == 1) return out;
  return {};
}

bool is_name(std::string_view host) {
  const auto is_good = [](char c) { return is_ascii_alphanumeric(c) || c == '-' || c == '.' || c == '_'; };
  return !host.empty() && host.size() < 256 && std::ranges::all_of(host, is_good);
}

/// Cuts ":443" or ":*" off the end; the port is 0 for ":*". A bare IPv6 address has none.
Result<std::optional<std::uint16_t>> cut_port(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  const bool is_bare_v6 = !text.starts_with('[') && text.find(':') != colon;
  const std::size_t close = text.rfind(']');
  if (colon == std::string_view::npos || is_bare_v6 || (close != std::string_view::npos && colon < close)) return std::nullopt;
  const std::string_view port = text.substr(colon + 1);
  const auto number = parse_whole_number<std::uint16_t>(port);
  if (port != "*" && number.value_or(0) == 0) return fail(ErrorCode::kInvalidArgument, "'{}' is not a port", port);
  text = text.substr(0, colon);
  return port == "*" ? std::uint16_t{0} : *number;
}

}  // namespace

Result<AddressPolicy::Entry> AddressPolicy::parse_entry(std::string_view text) {
  Entry entry;
  const std::string_view whole = text;
  FOOTNOTE_TRY(const auto port, cut_port(text));
  entry.port = port.value_or(0);
  entry.any_port = port == std::uint16_t{0};
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view host = text.substr(0, slash);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  entry.address = address_bytes(host);
  entry.bits = static_cast<unsigned>(entry.address.size()) * 8;
  if (slash < text.size()) {
    const auto bits = parse_whole_number<unsigned>(text.substr(slash + 1));
    if (entry.address.empty() || !bits || *bits > entry.bits) {
      return fail(ErrorCode::kInvalidArgument, "'{}' is not a network like 10.0.0.0/8", whole);
    }
    entry.bits = *bits;
  }
  if (!entry.address.empty()) return entry;
  entry.host = to_lower_ascii(host.starts_with("*.") ? host.substr(1) : host);
  if (!is_name(entry.host)) return fail(ErrorCode::kInvalidArgument, "'{}' is not a host name, address or network", whole);
  return entry;
}

Result<AddressPolicy> AddressPolicy::parse(std::string_view ports, std::string_view allow) {
  AddressPolicy out;
  out.ports_.clear();
  for (const std::string_view part : split(ports, ',')) {
    if (trim(part).empty()) continue;
    const auto port = parse_whole_number<std::uint16_t>(trim(part));
    if (port.value_or(0) == 0) return fail(ErrorCode::kInvalidArgument, "'{}' is not a port", trim(part));
    out.ports_.push_back(*port);
  }
  for (const std::string_view part : split(allow, ',')) {
    if (trim(part).empty()) continue;
    FOOTNOTE_TRY(Entry entry, parse_entry(trim(part)));
    out.allow_.push_back(std::move(entry));
  }
  return out;
}

bool AddressPolicy::is_public_port(std::uint16_t port) const { return std::ranges::find(ports_, port) != ports_.end(); }

bool AddressPolicy::opens_port(const Entry& entry, std::uint16_t port) const {
  return entry.any_port || (entry.port == 0 ? is_public_port(port) : entry.port == port);
}

bool AddressPolicy::allows_port(std::uint16_t port) const {
  return is_public_port(port) || std::ranges::any_of(allow_, [&](const Entry& entry) { return opens_port(entry, port); });
}

bool AddressPolicy::allows(std::string_view host, std::span<const unsigned char> address, std::uint16_t port) const {
  if (is_public_port(port) && http::is_public_address(address)) return true;
  return std::ranges::any_of(allow_, [&](const Entry& entry) {
    if (!opens_port(entry, port)) return false;
    if (entry.host.starts_with('.')) return host.size() > entry.host.size() && host.ends_with(entry.host);
    if (!entry.host.empty()) return host == entry.host;
    return entry.address.size() == address.size() && http::share_prefix(entry.address, address, entry.bits);
  });
}

}  // namespace footnote
