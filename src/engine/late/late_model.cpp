#include "engine/late/late_model.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/crc32c.h"

namespace footnote::late {
namespace {

constexpr std::string_view kMagic = "fnlate1\n";

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
float from_bf16(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

bool all_finite(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

Result<void> write(ByteSink& sink, const LateModel& model) {
  FOOTNOTE_CHECK(sink.write(std::as_bytes(std::span(kMagic))));
  for (const std::size_t size : {model.hidden(), model.projected(), model.frequent.size(), model.probe.size()}) {
    FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(size)));
  }
  FOOTNOTE_CHECK(sink.put_all<float>(model.centre));
  for (const float value : model.basis) FOOTNOTE_CHECK(sink.put(to_bf16(value)));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(model.frequent));
  return sink.put_all<float>(model.probe);
}

Result<LateModel> read(ByteSource& source) {
  FOOTNOTE_TRY(const auto magic, source.take_all<char>(kMagic.size()));
  if (std::string_view(magic.data(), magic.size()) != kMagic) return fail(ErrorCode::kCorrupted, "not a late-interaction file");
  FOOTNOTE_TRY(const auto sizes, source.take_all<std::uint32_t>(4));
  const std::size_t hidden = sizes[0];
  const std::size_t projected = sizes[1];
  const bool fits = hidden > 0 && hidden <= LateModel::kHiddenMax && hidden % 8 == 0 && projected <= hidden && projected % 8 == 0 &&
                    sizes[2] <= LateModel::kFrequentMax && sizes[3] <= hidden;
  if (!fits) return fail(ErrorCode::kCorrupted, "its sizes are invalid");
  LateModel model;
  FOOTNOTE_TRY(model.centre, source.take_all<float>(hidden));
  FOOTNOTE_TRY(const auto basis, source.take_all<std::uint16_t>(hidden * projected));
  model.basis.reserve(basis.size());
  for (const std::uint16_t value : basis) model.basis.push_back(from_bf16(value));
  FOOTNOTE_TRY(model.frequent, source.take_all<std::uint32_t>(sizes[2]));
  FOOTNOTE_TRY(model.probe, source.take_all<float>(sizes[3]));
  if (!all_finite(model.centre) || !all_finite(model.basis)) return fail(ErrorCode::kCorrupted, "some of its numbers are not finite");
  return model;
}

}  // namespace

std::string LateModel::to_bytes() const {
  BufferSink sink;
  (void)write(sink, *this);  // Writing to memory can't fail.
  (void)sink.put(crc32c(sink.bytes));
  return {reinterpret_cast<const char*>(sink.bytes.data()), sink.bytes.size()};
}

Result<LateModel> LateModel::from_bytes(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  if (bytes.size() < sizeof(sum)) return fail(ErrorCode::kCorrupted, "it is cut short");
  const auto content = bytes.first(bytes.size() - sizeof(sum));
  std::memcpy(&sum, bytes.data() + content.size(), sizeof(sum));
  if (crc32c(content) != sum) return fail(ErrorCode::kCorrupted, "it fails its checksum");
  BufferSource source(content);
  FOOTNOTE_TRY(LateModel model, read(source));
  if (source.remaining() != 0) return fail(ErrorCode::kCorrupted, "something follows its end");
  return model;
}

}  // namespace footnote::late
