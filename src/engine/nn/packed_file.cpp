#include "engine/nn/packed_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/crc32c.h"
#include "base/file.h"

namespace footnote::nn {
namespace {

constexpr std::size_t kHeaderBytes = 4096;  // A page, so that the payload is page-aligned.
constexpr std::array<char, 8> kMagic{'F', 'N', 'P', 'A', 'C', 'K', '1', '\n'};
// Increment when the packing or its contents change.
constexpr std::uint32_t kVersion = 2;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t format = 0;
  std::uint32_t panel_columns = 0;
  std::uint32_t reserved = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t source_bytes = 0;
  std::int64_t source_changed_ns = 0;
  std::uint64_t source_inode = 0;
  std::uint32_t payload_crc = 0;
  std::uint32_t header_crc = 0;  // CRC of all fields before it.
};
static_assert(sizeof(Header) == 64);

Header header_of(const PackedKey& key) {
  Header out;
  out.format = static_cast<std::uint32_t>(key.format);
  out.panel_columns = key.panel_columns;
  out.payload_bytes = key.payload_bytes;
  out.source_bytes = key.source_bytes;
  out.source_changed_ns = key.source_changed_ns;
  out.source_inode = key.source_inode;
  return out;
}

PackedKey key_in(const Header& header) {
  return {static_cast<Format>(header.format), header.panel_columns, header.payload_bytes, header.source_bytes,
          header.source_changed_ns,           header.source_inode};
}

std::uint32_t crc_of(const Header& header) { return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_crc))); }

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

std::string_view name_of(Format format) {
  switch (format) {
    case Format::kFloat: return "fp32";
    case Format::kInt8: return "int8";
    case Format::kBf16: return "bf16";
  }
  return "";
}

}  // namespace

std::filesystem::path PackedFile::path_of(const std::filesystem::path& model_folder, const Kernels& kernels) {
  return model_folder / fmt::format("packed-{}x{}.bin", name_of(kernels.format), kernels.panel_columns);
}

Result<PackedKey> PackedFile::key_of(const std::filesystem::path& weights, const Kernels& kernels, std::size_t payload_bytes) {
  struct stat status{};
  if (::stat(weights.c_str(), &status) != 0) return fail(code_of_errno(errno), "can't look at {}", weights.string());
  return PackedKey{kernels.format,
                   static_cast<std::uint32_t>(kernels.panel_columns),
                   payload_bytes,
                   static_cast<std::uint64_t>(status.st_size),
                   std::max(nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)),
                   status.st_ino};
}

Result<PackedFile> PackedFile::open(const std::filesystem::path& path, const PackedKey& key) {
  FOOTNOTE_TRY(MappedFile mapped, MappedFile::open(path));
  PackedFile out(std::move(mapped));
  const std::string_view bytes = out.file_.bytes();
  Header header;
  if (bytes.size() < kHeaderBytes) return fail(ErrorCode::kCorrupted, "{} is cut short", path.string());
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic || header.version != kVersion) return fail(ErrorCode::kNotFound, "{} has another version", path.string());
  if (header.header_crc != crc_of(header)) return fail(ErrorCode::kCorrupted, "{} fails its checksum", path.string());
  if (key_in(header) != key) return fail(ErrorCode::kNotFound, "{} was packed from other weights", path.string());
  if (bytes.size() != kHeaderBytes + key.payload_bytes || header.payload_crc != crc32c(out.payload())) {
    return fail(ErrorCode::kCorrupted, "{} fails its checksum", path.string());
  }
  return out;
}

Result<void> PackedFile::write(const std::filesystem::path& path, const PackedKey& key, std::span<const std::byte> payload) {
  Header header = header_of(key);
  header.payload_crc = crc32c(payload);
  header.header_crc = crc_of(header);
  std::array<std::byte, kHeaderBytes> page{};
  std::memcpy(page.data(), &header, sizeof(header));
  FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(path, Readers::kByUmask));
  FOOTNOTE_CHECK(file.write(page));
  FOOTNOTE_CHECK(file.write(payload));
  return file.commit();
}

std::span<const std::byte> PackedFile::payload() const { return std::as_bytes(std::span(file_.bytes())).subspan(kHeaderBytes); }

}  // namespace footnote::nn
