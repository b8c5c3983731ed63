#include "upkeep/snapshot_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "base/text.h"

namespace footnote::upkeep {
namespace {

constexpr std::string_view kFormat = "footnote snapshot 1";

struct FrameHead {
  std::uint32_t length = 0;  ///< Length of the type and the bytes.
  std::uint32_t sum = 0;
};
static_assert(sizeof(FrameHead) == 8);
constexpr std::size_t kFrameBytesMax = 1 + kSnapshotBlockBytes;

/// Includes the frame's number, which also detects missing, duplicated and reordered frames.
std::uint32_t sum_of(std::uint64_t number, std::span<const std::byte> frame) {
  return crc32c(frame, crc32c(std::as_bytes(std::span(&number, 1))));
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class Reader {
 public:
  Reader(std::filesystem::path path, InputFile file) : path_(std::move(path)), file_(std::move(file)) {}

  struct Frame {
    char type = 0;
    std::span<const std::byte> bytes;  ///< Valid until the next call.

    std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  };

  Result<Frame> next() {
    FrameHead head;
    FOOTNOTE_CHECK(fill(std::as_writable_bytes(std::span(&head, 1))));
    if (head.length == 0 || head.length > kFrameBytesMax) return damaged("is damaged");
    buffer_.resize(head.length);
    FOOTNOTE_CHECK(fill(buffer_));
    if (sum_of(number_, buffer_) != head.sum) return damaged("is damaged");
    ++number_;
    start_ += sizeof(head) + head.length;
    return Frame{static_cast<char>(buffer_[0]), std::span(buffer_).subspan(1)};
  }

  bool at_end() const { return start_ == file_.size(); }
  void enter(std::string_view name) { inside_ = name; }

  std::unexpected<Error> damaged(std::string_view what) const {
    return fail(ErrorCode::kCorrupted, "the snapshot {} {} at byte {}{}; nothing was restored from it", path_.string(), what, start_,
                inside_.empty() ? std::string() : fmt::format(" (in {})", inside_));
  }

 private:
  Result<void> fill(std::span<std::byte> out) {
    auto filled = file_.read(out);
    if (!filled && filled.error().code == ErrorCode::kCorrupted) return damaged("is cut short");
    return filled;
  }

  const std::filesystem::path path_;
  InputFile file_;
  std::vector<std::byte> buffer_;
  std::uint64_t number_ = 0;
  std::uint64_t start_ = 0;  ///< Offset of the current frame.
  std::string inside_;       ///< The current file's name.
};

}  // namespace

bool is_snapshot_name(std::string_view name) {
  if (name.empty() || name.size() > kSnapshotNameBytesMax) return false;
  return std::ranges::all_of(split(name, '/'), [](std::string_view part) {
    return !part.empty() && part.front() != '.' &&
           std::ranges::all_of(part, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
  });
}

Result<SnapshotWriter> SnapshotWriter::create(const std::filesystem::path& path) {
  FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(path));
  SnapshotWriter writer(std::move(file));
  FOOTNOTE_CHECK(writer.frame('H', bytes_of(kFormat)));
  return writer;
}

Result<void> SnapshotWriter::frame(char type, std::span<const std::byte> bytes) {
  std::vector<std::byte> body(1 + bytes.size());
  body[0] = static_cast<std::byte>(type);
  std::ranges::copy(bytes, body.begin() + 1);
  const FrameHead head{.length = static_cast<std::uint32_t>(body.size()), .sum = sum_of(frames_++, body)};
  FOOTNOTE_CHECK(file_.write(std::as_bytes(std::span(&head, 1))));
  return file_.write(body);
}

Result<void> SnapshotWriter::add(const CallContext& call, const std::string& name, const std::filesystem::path& file) {
  FOOTNOTE_TRY(InputFile input, InputFile::open(file));
  FOOTNOTE_CHECK(frame('F', bytes_of(name)));
  ++totals_.files;
  std::vector<std::byte> block;
  for (std::uint64_t left = input.size(); left > 0; left -= block.size()) {
    FOOTNOTE_CHECK(call.check());
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kSnapshotBlockBytes)));
    FOOTNOTE_CHECK(input.read(block));
    FOOTNOTE_CHECK(frame('D', block));
    totals_.bytes += block.size();
  }
  return {};
}

Result<SnapshotTotals> SnapshotWriter::commit() {
  FOOTNOTE_CHECK(frame('E', std::as_bytes(std::span(&totals_, 1))));
  FOOTNOTE_CHECK(file_.commit());
  return totals_;
}

Result<SnapshotTotals> read_snapshot(const CallContext& call, const std::filesystem::path& path, const SnapshotVisitor& visitor) {
  FOOTNOTE_TRY(InputFile file, InputFile::open(path));
  Reader reader(path, std::move(file));
  FOOTNOTE_TRY(const auto head, reader.next());
  if (head.type != 'H' || head.text() != kFormat) {
    return fail(ErrorCode::kUnsupported, "{} is not a snapshot in this version's format", path.string());
  }
  SnapshotTotals totals;
  while (true) {
    FOOTNOTE_CHECK(call.check());
    FOOTNOTE_TRY(const auto frame, reader.next());
    if (frame.type == 'F') {
      if (!is_snapshot_name(frame.text())) return reader.damaged("names a file that can't be in one");
      ++totals.files;
      reader.enter(frame.text());
      FOOTNOTE_CHECK(visitor.start(frame.text()));
    } else if (frame.type == 'D' && totals.files > 0) {
      totals.bytes += frame.bytes.size();
      FOOTNOTE_CHECK(visitor.piece(frame.bytes));
    } else if (frame.type == 'E' && frame.bytes.size() == sizeof(SnapshotTotals)) {
      SnapshotTotals recorded;
      std::memcpy(&recorded, frame.bytes.data(), sizeof(recorded));
      if (recorded.files != totals.files || recorded.bytes != totals.bytes) return reader.damaged("does not match its recorded totals");
      if (!reader.at_end()) return reader.damaged("has data after its end");
      return totals;
    } else {
      return reader.damaged("is damaged");
    }
  }
}

}  // namespace footnote::upkeep
