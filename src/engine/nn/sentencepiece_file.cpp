#include "engine/nn/sentencepiece_file.h"

#include <bit>
#include <optional>

namespace footnote::nn {
namespace {

constexpr std::size_t kPiecesMax = 1U << 22;

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // For kVarint and kFixed32.
  std::string_view bytes;   // For kBytes.
};

/// Reads a protocol buffer message field by field: `tag:varint` and, by the tag's lowest three bits, a varint, 4 or 8 bytes, or
/// `size:varint` and that many bytes.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  /// nullopt: malformed. Each call consumes at least one byte.
  std::optional<Field> next() {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    Field field;
    field.number = *tag >> 3;
    switch (*tag & 7) {
      case 0: field.type = WireType::kVarint; break;
      case 1: field.type = WireType::kFixed64; break;
      case 2: field.type = WireType::kBytes; break;
      case 5: field.type = WireType::kFixed32; break;
      default: return std::nullopt;
    }
    return read_value(field) ? std::optional(field) : std::nullopt;
  }

 private:
  bool read_value(Field& field) {
    switch (field.type) {
      case WireType::kVarint: {
        const auto value = varint();
        field.value = value.value_or(0);
        return value.has_value();
      }
      case WireType::kFixed64: return take(8).has_value();
      case WireType::kFixed32: {
        const auto bytes = take(4);
        if (!bytes) return false;
        for (std::size_t i = 0; i < 4; ++i) field.value |= std::uint64_t{static_cast<unsigned char>((*bytes)[i])} << (8 * i);
        return true;
      }
      case WireType::kBytes: {
        const auto size = varint();
        const auto bytes = size ? take(*size) : std::nullopt;
        field.bytes = bytes.value_or(std::string_view());
        return bytes.has_value();
      }
    }
    return false;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return out;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> take(std::uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  std::string_view rest_;
};

/// Calls `use` for every field; false when the message is malformed or `use` returns false.
template <class Use>
bool for_each_field(std::string_view bytes, const Use& use) {
  MessageReader reader(bytes);
  while (!reader.done()) {
    const auto field = reader.next();
    if (!field || !use(*field)) return false;
  }
  return true;
}

bool read_piece(std::string_view bytes, SentencePieceFile::Piece& out) {
  return for_each_field(bytes, [&](const Field& field) {
    if (field.number == 1 && field.type == WireType::kBytes) out.text = field.bytes;
    if (field.number == 2 && field.type == WireType::kFixed32) out.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    if (field.number != 3 || field.type != WireType::kVarint) return true;
    out.type = static_cast<SentencePieceFile::PieceType>(field.value);
    return field.value >= 1 && field.value <= 6;
  });
}

bool read_trainer(std::string_view bytes, SentencePieceFile& out) {
  return for_each_field(bytes, [&](const Field& field) {
    if (field.number != 3 || field.type != WireType::kVarint) return true;
    out.model_type = static_cast<SentencePieceFile::ModelType>(field.value);
    return field.value >= 1 && field.value <= 4;
  });
}

bool read_normalizer(std::string_view bytes, SentencePieceFile& out) {
  return for_each_field(bytes, [&](const Field& field) {
    if (field.type == WireType::kBytes && field.number == 2) out.chars_map = field.bytes;
    if (field.type != WireType::kVarint) return true;
    if (field.number == 3) out.add_dummy_prefix = field.value != 0;
    if (field.number == 4) out.remove_extra_whitespaces = field.value != 0;
    if (field.number == 5) out.escape_whitespaces = field.value != 0;
    return true;
  });
}

}  // namespace

Result<SentencePieceFile> SentencePieceFile::parse(std::string_view bytes) {
  SentencePieceFile out;
  const bool sound = for_each_field(bytes, [&](const Field& field) {
    if (field.type != WireType::kBytes) return true;
    if (field.number == 2) return read_trainer(field.bytes, out);
    if (field.number == 3) return read_normalizer(field.bytes, out);
    if (field.number != 1) return true;
    return out.pieces.size() < kPiecesMax && read_piece(field.bytes, out.pieces.emplace_back());
  });
  if (!sound) return fail(ErrorCode::kCorrupted, "it is not a SentencePiece model");
  if (out.pieces.empty()) return fail(ErrorCode::kCorrupted, "it is a SentencePiece model without pieces");
  return out;
}

}  // namespace footnote::nn
