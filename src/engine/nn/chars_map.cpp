#include "engine/nn/chars_map.h"

#include "base/utf8.h"

namespace footnote::nn {
namespace {

std::uint32_t read_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return out;
}

bool has_leaf(std::uint32_t unit) { return ((unit >> 8) & 1) != 0; }
std::uint32_t leaf_value(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
// A leaf's highest bit is part of its label, so that no byte matches it.
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

}  // namespace

CharsMap::CharsMap() : CharsMap({}, {}) {}

CharsMap::CharsMap(std::vector<std::uint32_t> units, std::string_view replacements)
    : units_(std::move(units)), replacements_(replacements), entries_(kTableSize) {
  for (char32_t c = 0; c < kTableSize; ++c) entries_[c] = compute(c);
  for (char32_t c = 0; c < 128; ++c) plain_[c] = !entry(c).mapped && c != '\r';
}

Result<CharsMap> CharsMap::parse(std::string_view bytes) {
  const std::size_t size = bytes.size() < 4 ? 0 : read_u32(bytes, 0);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4) {
    return fail(ErrorCode::kCorrupted, "the character map's sizes don't match its {} bytes", bytes.size());
  }
  const std::string_view replacements = bytes.substr(4 + size);
  if (!is_valid_utf8(replacements)) return fail(ErrorCode::kCorrupted, "the character map's replacements are not UTF-8");
  std::vector<std::uint32_t> units(size / 4);
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = read_u32(bytes, 4 + i * 4);
  return CharsMap(std::move(units), replacements);
}

std::optional<std::string_view> CharsMap::replacement_of(std::string_view text) const {
  if (units_.empty()) return std::nullopt;
  std::size_t at = offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return std::nullopt;
    at ^= byte;
    if (at >= units_.size() || label(units_[at]) != byte) return std::nullopt;
    const std::uint32_t unit = units_[at];
    at ^= offset(unit);
    if (!has_leaf(unit)) continue;
    if (at >= units_.size()) return std::nullopt;
    const std::size_t begin = leaf_value(units_[at]);
    if (begin >= replacements_.size() || !is_utf8_boundary(replacements_, begin)) return std::nullopt;
    return std::string_view(replacements_).substr(begin, replacements_.find('\0', begin) - begin);
  }
  return std::nullopt;
}

std::uint8_t CharsMap::compute(char32_t code_point) const {
  std::string bytes;
  append_utf8(bytes, code_point);
  const auto packed = static_cast<std::uint8_t>(break_class(code_point));
  return replacement_of(bytes) ? packed | kMappedBit : packed;
}

}  // namespace footnote::nn
