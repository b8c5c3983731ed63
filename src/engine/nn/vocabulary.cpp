#include "engine/nn/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/utf8.h"

namespace footnote::nn {
namespace {

constexpr std::string_view kInsideMark = "##";
constexpr std::size_t kLinesMax = 1U << 24;
constexpr std::size_t kBytesMax = 0xFFFFFFFF;
// Longer pieces are kept but never match: a word has at most 100 characters of 4 bytes.
constexpr std::size_t kPieceBytesMax = 512;

// A multiplicative hash, extended byte by byte, so that one pass over a word gives the hashes of all its prefixes. The seed separates the
// two kinds of pieces.
std::uint64_t seed_of(Vocabulary::Place place) {
  return place == Vocabulary::Place::kWordStart ? 0x9AE16A3B2F90404FULL : 0xC949D7C7509E6557ULL;
}

std::uint64_t extend(std::uint64_t hash, char byte) { return (hash ^ static_cast<unsigned char>(byte)) * 0x9FB21C651E98DF25ULL; }

// The low bits of the product depend on few input bits: mix in the high ones.
std::uint64_t finish(std::uint64_t hash) { return hash ^ (hash >> 29); }

std::uint64_t hash_of(std::string_view bytes, Vocabulary::Place place) {
  std::uint64_t hash = seed_of(place);
  for (const char byte : bytes) hash = extend(hash, byte);
  return finish(hash);
}

bool is_inside_piece(std::string_view line) { return line.size() > kInsideMark.size() && line.starts_with(kInsideMark); }

}  // namespace

Result<Vocabulary> Vocabulary::parse(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return from_pieces(lines);
}

Result<Vocabulary> Vocabulary::from_pieces(std::span<const std::string_view> pieces) {
  if (pieces.empty()) return fail(ErrorCode::kCorrupted, "the vocabulary is empty");
  if (pieces.size() > kLinesMax) return fail(ErrorCode::kCorrupted, "the vocabulary has more than {} pieces", kLinesMax);
  Vocabulary out;
  out.offsets_.push_back(0);
  for (const std::string_view piece : pieces) {
    if (!is_valid_utf8(piece)) return fail(ErrorCode::kCorrupted, "the vocabulary is not UTF-8 text");
    if (piece.size() > kBytesMax - out.text_.size())
      return fail(ErrorCode::kCorrupted, "the vocabulary is longer than {} bytes", kBytesMax);
    out.text_ += piece;
    out.offsets_.push_back(static_cast<std::uint32_t>(out.text_.size()));
  }
  out.slots_.resize(std::bit_ceil(out.size() * 2));
  for (std::uint32_t id = 0; id < out.size(); ++id) out.insert(id);
  return out;
}

void Vocabulary::insert(std::uint32_t id) {
  const std::string_view line = piece(id);
  const Place place = is_inside_piece(line) ? Place::kInsideWord : Place::kWordStart;
  const std::string_view bytes = place == Place::kInsideWord ? line.substr(kInsideMark.size()) : line;
  if (bytes.empty()) return;
  piece_bytes_max_ = std::max(piece_bytes_max_, std::min(bytes.size(), kPieceBytesMax));
  const std::uint64_t hash = hash_of(bytes, place);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != kNone && piece(slots_[at].id) != line) at = (at + 1) & mask;
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), id};
}

std::uint32_t Vocabulary::probe(std::uint64_t hash, std::string_view bytes, Place place) const {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t at = hash & mask; slots_[at].id != kNone; at = (at + 1) & mask) {
    if (slots_[at].tag != tag) continue;
    std::string_view line = piece(slots_[at].id);
    if (is_inside_piece(line) != (place == Place::kInsideWord)) continue;
    if (place == Place::kInsideWord) line.remove_prefix(kInsideMark.size());
    if (line == bytes) return slots_[at].id;
  }
  return kNone;
}

Vocabulary::Match Vocabulary::longest_prefix(std::string_view rest, Place place) const {
  std::array<std::uint64_t, kPieceBytesMax> hashes;
  const std::size_t longest = std::min(rest.size(), piece_bytes_max_);
  std::uint64_t hash = seed_of(place);
  for (std::size_t i = 0; i < longest; ++i) hashes[i] = hash = extend(hash, rest[i]);
  // Pieces are whole code points, so a prefix that splits one matches nothing and needs no check.
  for (std::size_t bytes = longest; bytes > 0; --bytes) {
    const std::uint32_t id = probe(finish(hashes[bytes - 1]), rest.substr(0, bytes), place);
    if (id != kNone) return {id, bytes};
  }
  return {};
}

std::uint32_t Vocabulary::find(std::string_view line) const {
  const Place place = is_inside_piece(line) ? Place::kInsideWord : Place::kWordStart;
  const std::string_view bytes = place == Place::kInsideWord ? line.substr(kInsideMark.size()) : line;
  return probe(hash_of(bytes, place), bytes, place);
}

}  // namespace footnote::nn
