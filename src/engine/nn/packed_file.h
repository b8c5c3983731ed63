#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"
#include "engine/nn/kernels.h"
#include "engine/nn/safetensors.h"

namespace footnote::nn {

/// Identifies the weight file and the kernels that a packed file was made for. Modifying the weight file changes its identity.
struct PackedKey {
  Format format = Format::kFloat;
  std::uint32_t panel_columns = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t source_bytes = 0;
  std::int64_t source_changed_ns = 0;  ///< The later of the file's two timestamps.
  std::uint64_t source_inode = 0;

  bool operator==(const PackedKey&) const = default;
};

/// The packed weights of a model at one level, cached on disk next to the model and mmapped:
///   file := magic:8 version:u32 format:u32 panel:u32 reserved:u32 payload_bytes:u64 source_bytes:u64
///           source_changed_ns:i64 source_inode:u64 payload_crc:u32 header_crc:u32 zeroes to 4096; payload
/// Both checksums are CRC-32C. If anything is wrong with the file, the weights are packed again.
class PackedFile {
 public:
  PackedFile() = default;

  /// <model folder>/packed-int8x32.bin and the like.
  static std::filesystem::path path_of(const std::filesystem::path& model_folder, const Kernels& kernels);

  /// The current identity of a weight file.
  static Result<PackedKey> key_of(const std::filesystem::path& weights, const Kernels& kernels, std::size_t payload_bytes);

  /// kNotFound: no file, or one for another identity. kCorrupted: a checksum does not match.
  static Result<PackedFile> open(const std::filesystem::path& path, const PackedKey& key);

  /// Temporary file, fsync, rename, fsync of the folder.
  static Result<void> write(const std::filesystem::path& path, const PackedKey& key, std::span<const std::byte> payload);

  std::span<const std::byte> payload() const;

 private:
  explicit PackedFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
};

}  // namespace footnote::nn
