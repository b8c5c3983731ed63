#include "providers/local/code_file.h"

#include <algorithm>

#include "base/assert.h"
#include "base/crc32c.h"

namespace footnote {
namespace {

constexpr std::uint64_t kEntryBytes = 24;
constexpr std::uint64_t kEndBytes = 20;
constexpr std::uint64_t kRecordHeadBytes = 12;

template <class T>
T load(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Checksum of an entry's fields, to be continued over its record.
std::uint32_t sum_of(std::int64_t chunk, std::uint64_t offset) {
  return crc32c(std::as_bytes(std::span(&offset, 1)), crc32c(std::as_bytes(std::span(&chunk, 1))));
}

/// nullopt unless the bytes are exactly one record.
std::optional<CodesView> parse(std::span<const std::byte> record) {
  CodesView out;
  if (record.empty()) return out;
  if (record.size() < kRecordHeadBytes) return std::nullopt;
  out.form = load<std::uint32_t>(record.data());
  out.dimension = load<std::uint32_t>(record.data() + 4);
  const auto windows = load<std::uint32_t>(record.data() + 8);
  const auto rest = record.subspan(kRecordHeadBytes);
  if (windows > rest.size() / sizeof(std::uint32_t)) return std::nullopt;
  out.windows = rest.first(windows * sizeof(std::uint32_t));
  out.signs = rest.subspan(out.windows.size());
  std::uint64_t tokens = 0;
  for (std::size_t i = 0; i < windows; ++i) tokens += out.window_tokens(i);
  const bool whole = out.dimension > 0 && out.dimension % 8 == 0 && tokens * (out.dimension / 8) == out.signs.size();
  return whole ? std::optional(out) : std::nullopt;
}

}  // namespace

std::uint64_t CodeFileWriter::record_bytes(const CodesView& codes) {
  return codes.form == 0 ? 0 : kRecordHeadBytes + codes.windows.size() + codes.signs.size();
}

Result<void> CodeFileWriter::add(ChunkId chunk, const CodesView& codes) {
  FOOTNOTE_ASSERT(entries_.empty() || entries_.back().chunk < chunk.value);
  const std::uint64_t bytes = record_bytes(codes);
  FOOTNOTE_ASSERT(bytes <= kCodeRecordBytesMax);
  std::uint32_t sum = sum_of(chunk.value, bytes_);
  const auto write = [&](std::span<const std::byte> part) {
    sum = crc32c(part, sum);
    return sink_.write(part);
  };
  if (bytes > 0) {
    const std::uint32_t head[] = {codes.form, codes.dimension, static_cast<std::uint32_t>(codes.window_count())};
    FOOTNOTE_CHECK(write(std::as_bytes(std::span(head))));
    FOOTNOTE_CHECK(write(codes.windows));
    FOOTNOTE_CHECK(write(codes.signs));
  }
  entries_.push_back({chunk.value, bytes_, static_cast<std::uint32_t>(bytes), sum});
  bytes_ += bytes;
  return {};
}

Result<void> CodeFileWriter::finish() {
  static_assert(sizeof(Entry) == kEntryBytes);
  FOOTNOTE_CHECK(sink_.write(std::as_bytes(std::span(entries_))));
  const std::uint64_t end[] = {entries_.size(), bytes_};
  FOOTNOTE_CHECK(sink_.write(std::as_bytes(std::span(end))));
  return sink_.put(crc32c(std::as_bytes(std::span(end))));
}

std::uint64_t CodeFileWriter::file_bytes() const { return bytes_ + entries_.size() * kEntryBytes + kEndBytes; }

Result<std::shared_ptr<const CodeFile>> CodeFile::open(RawBytes raw, std::uint64_t size) {
  if (size < kEndBytes) return fail(ErrorCode::kCorrupted, "it is damaged: it has no end");
  const std::byte* const end = raw.get() + (size - kEndBytes);
  const auto count = load<std::uint64_t>(end);
  const auto bytes = load<std::uint64_t>(end + 8);
  const bool sound = crc32c(std::span(end, kEndBytes - 4)) == load<std::uint32_t>(end + 16);
  const std::uint64_t room = size - kEndBytes;
  if (!sound || bytes > room || count > (room - bytes) / kEntryBytes || bytes + count * kEntryBytes != room) {
    return fail(ErrorCode::kCorrupted, "it is damaged: its end does not match its length");
  }
  return std::shared_ptr<const CodeFile>(new CodeFile(std::move(raw), count, bytes));
}

const std::byte* CodeFile::entry(std::uint64_t at) const { return raw_.get() + bytes_ + at * kEntryBytes; }

std::int64_t CodeFile::chunk_at(std::uint64_t at) const { return load<std::int64_t>(entry(at)); }

std::optional<CodesView> CodeFile::read(std::uint64_t at, bool anew) const {
  const auto offset = load<std::uint64_t>(entry(at) + 8);
  const auto bytes = load<std::uint32_t>(entry(at) + 16);
  if (offset <= bytes_ && bytes <= bytes_ - offset) {
    const std::span record(raw_.get() + offset, bytes);
    const bool known = !anew && known_sound_[at].load(std::memory_order_relaxed);
    if (known || crc32c(record, sum_of(chunk_at(at), offset)) == load<std::uint32_t>(entry(at) + 20)) {
      if (auto codes = parse(record)) {
        if (!known) known_sound_[at].store(true, std::memory_order_relaxed);
        return codes;
      }
    }
  }
  damaged_.store(true, std::memory_order_relaxed);
  return std::nullopt;
}

void CodeFile::prefetch(std::uint64_t place) const {
  constexpr std::uint64_t kCacheLine = 64;
  // For longer records the hardware prefetcher takes over.
  constexpr std::uint64_t kBytesMax = 16 << 10;
  const auto offset = load<std::uint64_t>(entry(place) + 8);
  const auto bytes = std::min<std::uint64_t>(load<std::uint32_t>(entry(place) + 16), kBytesMax);
  if (offset > bytes_ || bytes > bytes_ - offset) return;
  for (std::uint64_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(raw_.get() + offset + at);
}

std::optional<CodesView> CodeFile::find(ChunkId chunk) const {
  const auto place = place_of(chunk);
  return place ? read(*place) : std::nullopt;
}

std::optional<std::uint64_t> CodeFile::place_of(ChunkId chunk) const {
  if (count_ == 0) return std::nullopt;
  // Ids are mostly consecutive, so try the position that follows from the first entry's id.
  const auto guess = static_cast<std::uint64_t>(chunk.value) - static_cast<std::uint64_t>(chunk_at(0));
  if (guess < count_ && chunk_at(guess) == chunk.value) return guess;
  std::uint64_t low = 0;
  for (std::uint64_t high = count_; low < high;) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (chunk_at(middle) < chunk.value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == count_ || chunk_at(low) != chunk.value) return std::nullopt;
  return low;
}

Result<void> CodeFile::check() const {
  std::uint64_t bad = 0;
  for (std::uint64_t at = 0; at < count_; ++at) {
    const bool in_order = at == 0 || chunk_at(at - 1) < chunk_at(at);
    if (!in_order || !read(at, true)) ++bad;
  }
  if (bad == 0) return {};
  return fail(ErrorCode::kCorrupted, "it is damaged: the codes of {} passages can't be used", bad);
}

}  // namespace footnote
