#include "formats/package.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::formats {

namespace {

std::unexpected<Error> damaged() {
  return fail(ErrorCode::kUnsupported, "damaged: it can't be unpacked; open it in its program and save it again");
}

archive* open_archive(std::string_view bytes) {
  archive* handle = archive_read_new();
  if (handle == nullptr) return nullptr;
  archive_read_support_format_zip_seekable(handle);
  if (archive_read_open_memory(handle, bytes.data(), bytes.size()) == ARCHIVE_OK) return handle;
  archive_read_free(handle);
  return nullptr;
}

std::string name_of(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  return name == nullptr ? std::string() : repair_utf8(name);
}

}  // namespace

void PartStream::Close::operator()(archive* handle) const { archive_read_free(handle); }

std::ptrdiff_t PartStream::read(char* out, std::size_t bytes) {
  if (!error_) return -1;
  const la_ssize_t got = archive_read_data(handle_.get(), out, bytes);
  if (got < 0) {
    error_ = damaged();
    return -1;
  }
  error_ = package_->count(static_cast<std::size_t>(got));
  return error_ ? got : -1;
}

Result<Package> Package::open(std::string_view bytes) {
  const std::unique_ptr<archive, PartStream::Close> handle(open_archive(bytes));
  if (handle == nullptr) return damaged();
  Package out;
  out.bytes_ = bytes;
  archive_entry* entry = nullptr;
  for (std::size_t entries = 0;; ++entries) {
    const int status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged();
    if (entries == kEntriesMax) return fail(ErrorCode::kTooLarge, "more than {} files are packed in it", kEntriesMax);
    if (archive_entry_is_encrypted(entry) != 0) return fail(ErrorCode::kUnsupported, "protected by a password; save a copy without one");
    out.names_.insert(name_of(entry));
  }
  return out;
}

Result<void> Package::count(std::size_t unpacked) {
  unpacked_ += unpacked;
  const bool is_bomb = unpacked_ > kRatioFreeBytes && unpacked_ > kRatioMax * bytes_.size();
  if (!is_bomb && unpacked_ <= kUnpackedBytesMax) return {};
  return fail(ErrorCode::kTooLarge, "it unpacks to more than {}, from {}",
              human_bytes(std::min(kUnpackedBytesMax, std::max(kRatioFreeBytes, kRatioMax * bytes_.size()))), human_bytes(bytes_.size()));
}

Result<PartStream> Package::stream(const std::string& name) {
  if (!has(name)) return fail(ErrorCode::kUnsupported, "damaged: it has no part {}", name);
  PartStream out;
  out.handle_.reset(open_archive(bytes_));
  out.package_ = this;
  if (out.handle_ == nullptr) return damaged();
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(out.handle_.get(), &entry);
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged();
    if (name_of(entry) == name) return out;
  }
}

Result<std::string> PartStream::rest(std::size_t bytes_max) {
  std::string out;
  std::array<char, 16384> piece{};
  for (;;) {
    const std::ptrdiff_t got = read(piece.data(), piece.size());
    if (got < 0) return std::unexpected(error_.error());
    if (got == 0) return out;
    if (out.size() + static_cast<std::size_t>(got) > bytes_max) {
      return fail(ErrorCode::kTooLarge, "its text unpacks to more than {}", human_bytes(bytes_max));
    }
    out.append(piece.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> Package::read(const std::string& name, std::size_t bytes_max) {
  FOOTNOTE_TRY(PartStream part, stream(name));
  return part.rest(bytes_max);
}

Result<std::map<std::string, std::string>> Package::read_all(const std::function<bool(const std::string&)>& is_wanted) {
  PartStream part;
  part.handle_.reset(open_archive(bytes_));
  part.package_ = this;
  if (part.handle_ == nullptr) return damaged();
  std::map<std::string, std::string> out;
  std::size_t bytes = 0;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(part.handle_.get(), &entry);
    if (status == ARCHIVE_EOF) return out;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged();
    const std::string name = name_of(entry);
    if (!is_wanted(name)) continue;
    FOOTNOTE_TRY(std::string content, part.rest(parts_bytes_max() - bytes));
    bytes += content.size();
    out[name] = std::move(content);
  }
}

}  // namespace footnote::formats
