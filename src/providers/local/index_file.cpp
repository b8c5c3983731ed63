#include "providers/local/index_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/crc32c.h"
#include "base/fault_point.h"

namespace footnote {

namespace {

constexpr std::string_view kMagic = "fnindex\n";

/// Writes to the file and updates the checksum.
class SummingSink final : public ByteSink {
 public:
  SummingSink(AtomicFile& file, std::uint64_t& size, std::uint32_t& sum) : file_(file), size_(size), sum_(sum) {}
  Result<void> write(std::span<const std::byte> bytes) override {
    sum_ = crc32c(bytes, sum_);
    size_ += bytes.size();
    return file_.write(bytes);
  }

 private:
  AtomicFile& file_;
  std::uint64_t& size_;
  std::uint32_t& sum_;
};

/// Writes to the file without a checksum.
class PlainSink final : public ByteSink {
 public:
  explicit PlainSink(AtomicFile& file) : file_(file) {}
  Result<void> write(std::span<const std::byte> bytes) override { return file_.write(bytes); }

 private:
  AtomicFile& file_;
};

/// Number of zeros between `size` bytes and raw.
std::uint64_t padding_after(std::uint64_t size) { return (kRawAlignment - size % kRawAlignment) % kRawAlignment; }

RawBytes raw_at(FileMapping mapping, std::uint64_t offset) {
  const auto owner = std::make_shared<const FileMapping>(std::move(mapping));
  return RawBytes(owner, owner->bytes().data() + offset);
}

/// Reads at most `bytes` from the file and updates the checksum.
class SummingSource final : public ByteSource {
 public:
  SummingSource(InputFile& file, std::uint32_t& sum, std::uint64_t bytes) : file_(file), sum_(sum), remaining_(bytes) {}
  Result<void> read(std::span<std::byte> out) override {
    FOOTNOTE_CHECK(fits<std::byte>(out.size()));
    FOOTNOTE_CHECK(file_.read(out));
    sum_ = crc32c(out, sum_);
    remaining_ -= out.size();
    return {};
  }
  std::uint64_t remaining() const override { return remaining_; }

 private:
  InputFile& file_;
  std::uint32_t& sum_;
  std::uint64_t remaining_;
};

Result<void> write_head(ByteSink& sink, const IndexHead& head) {
  FOOTNOTE_CHECK(sink.write(std::as_bytes(std::span(kMagic))));
  FOOTNOTE_CHECK(sink.put(kIndexFormat));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(head.kind)));
  FOOTNOTE_CHECK(sink.put(head.rules));
  FOOTNOTE_CHECK(sink.put(static_cast<std::int32_t>(head.space.dimension)));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(head.space.distance)));
  FOOTNOTE_CHECK(sink.put(head.corpus.value));
  FOOTNOTE_CHECK(sink.put(head.generation));
  FOOTNOTE_CHECK(sink.put(head.stamp));
  return sink.put_text(head.space.model_id);
}

}  // namespace

Result<IndexFileWriter> IndexFileWriter::create(const std::filesystem::path& path, const IndexHead& head) {
  FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(path));
  IndexFileWriter writer(std::move(file));
  SummingSink sink(writer.file_, writer.size_, writer.sum_);
  FOOTNOTE_CHECK(write_head(sink, head));
  FOOTNOTE_CHECK(sink.put(writer.sum_));
  return writer;
}

Result<void> IndexFileWriter::section(const std::function<Result<void>(ByteSink&)>& content) {
  ByteCount length;
  FOOTNOTE_CHECK(content(length));
  SummingSink sink(file_, size_, sum_);
  FOOTNOTE_CHECK(sink.put(length.count()));
  FOOTNOTE_CHECK(content(sink));
  fault_point(FaultPoint::kIndexFileSection);
  return sink.put(sum_);
}

Result<RawBytes> IndexFileWriter::raw(const std::function<Result<void>(ByteSink&)>& content) {
  const std::vector<std::byte> zeros(padding_after(size_));
  PlainSink sink(file_);
  FOOTNOTE_CHECK(sink.write(zeros));
  FOOTNOTE_CHECK(content(sink));
  FOOTNOTE_TRY(FileMapping mapping, file_.map());
  const std::uint64_t offset = size_ + zeros.size();
  return mapping.bytes().size() == offset ? RawBytes() : raw_at(std::move(mapping), offset);
}

Result<IndexFileReader> IndexFileReader::open(const std::filesystem::path& path) {
  FOOTNOTE_TRY(InputFile file, InputFile::open(path));
  IndexFileReader reader(std::move(file));
  FOOTNOTE_CHECK(reader.read_head());
  return reader;
}

Result<void> IndexFileReader::read_head() {
  SummingSource source(file_, sum_, left_);
  std::array<char, kMagic.size()> magic{};
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(magic))));
  if (std::string_view(magic.data(), magic.size()) != kMagic) return fail(ErrorCode::kCorrupted, "it is not an index file");
  FOOTNOTE_TRY(const auto format, source.take<std::uint32_t>());
  if (format != kIndexFormat) return fail(ErrorCode::kCorrupted, "its format is {}, this footnote reads {}", format, kIndexFormat);
  FOOTNOTE_TRY(const auto kind, source.take<std::uint32_t>());
  head_.kind = static_cast<IndexKind>(kind);
  FOOTNOTE_TRY(head_.rules, source.take<std::uint32_t>());
  FOOTNOTE_TRY(head_.space.dimension, source.take<std::int32_t>());
  FOOTNOTE_TRY(const auto distance, source.take<std::uint32_t>());
  if (distance > static_cast<std::uint32_t>(Distance::kManhattan)) return fail(ErrorCode::kCorrupted, "its distance is {}", distance);
  head_.space.distance = static_cast<Distance>(distance);
  FOOTNOTE_TRY(head_.corpus.value, source.take<std::int64_t>());
  FOOTNOTE_TRY(head_.generation, source.take<Generation>());
  FOOTNOTE_TRY(head_.stamp, source.take<std::int64_t>());
  FOOTNOTE_TRY(const auto model_bytes, source.take<std::uint64_t>());
  if (model_bytes > kModelBytesMax) return fail(ErrorCode::kCorrupted, "its model's name has {} bytes", model_bytes);
  FOOTNOTE_TRY(const auto model, source.take_all<char>(model_bytes));
  head_.space.model_id.assign(model.begin(), model.end());
  left_ = source.remaining();
  return check_sum();
}

Result<void> IndexFileReader::check_sum() {
  const std::uint32_t expected = sum_;
  SummingSource source(file_, sum_, left_);
  FOOTNOTE_TRY(const auto stored, source.take<std::uint32_t>());
  left_ = source.remaining();
  if (stored != expected) return fail(ErrorCode::kCorrupted, "it is damaged: it fails its checksum");
  return {};
}

Result<void> IndexFileReader::section(const std::function<Result<void>(ByteSource&)>& content) {
  SummingSource whole(file_, sum_, left_);
  FOOTNOTE_TRY(const auto bytes, whole.take<std::uint64_t>());
  FOOTNOTE_CHECK(whole.fits<std::byte>(bytes));
  SummingSource source(file_, sum_, bytes);
  if (auto read = content(source); !read) {
    return read.error().code == ErrorCode::kCorrupted ? with_context(std::move(read).error(), "it is damaged") : read;
  }
  if (source.remaining() != 0) return fail(ErrorCode::kCorrupted, "it is damaged: a section is longer than what it holds");
  left_ = whole.remaining() - bytes;
  return check_sum();
}

std::uint64_t IndexFileReader::raw_bytes() const {
  const std::uint64_t padding = padding_after(file_.size() - left_);
  return left_ - std::min(left_, padding);
}

Result<RawBytes> IndexFileReader::raw(std::uint64_t bytes) {
  const std::uint64_t size = file_.size() - left_;
  const std::uint64_t padding = padding_after(size);
  if (left_ < padding || left_ - padding != bytes) {
    return fail(ErrorCode::kCorrupted, "it is damaged: {} bytes follow its sections, not {}", left_, padding + bytes);
  }
  std::vector<std::byte> zeros(padding);
  FOOTNOTE_CHECK(file_.read(zeros));
  if (std::ranges::any_of(zeros, [](std::byte byte) { return byte != std::byte{0}; })) {
    return fail(ErrorCode::kCorrupted, "it is damaged: its padding is not zero");
  }
  if (bytes == 0) return RawBytes();
  FOOTNOTE_TRY(FileMapping mapping, file_.map());
  if (mapping.bytes().size() != file_.size()) return fail(ErrorCode::kCorrupted, "it changed while it was read");
  return raw_at(std::move(mapping), size + padding);
}

Result<void> IndexFileReader::finish() const {
  if (left_ == 0) return {};
  return fail(ErrorCode::kCorrupted, "it is damaged: {} bytes follow its end", left_);
}

}  // namespace footnote
