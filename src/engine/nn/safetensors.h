#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::nn {

/// A whole file mapped for reading. Movable; views into bytes() are valid as long as the owner.
class MappedFile {
 public:
  /// kNotFound: no such file; kUnavailable: it can't be mapped.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {static_cast<const char*>(address_), size_}; }

 private:
  MappedFile(void* address, std::size_t size) : address_(address), size_(size) {}

  void* address_ = nullptr;
  std::size_t size_ = 0;
};

enum class DataType { kF32, kF16, kBf16, kI64, kI32, kI8, kU8, kOther };

/// One tensor of a file; `bytes` points into the mapping.
struct Tensor {
  DataType type = DataType::kOther;
  std::vector<std::uint64_t> shape;
  std::string_view bytes;
};

/// A file of named tensors in the safetensors format, mapped read-only:
///   file   := header_bytes:u64le header:json data
///   header := { "name": {"dtype": "F32", "shape": [n...], "data_offsets": [begin, end]}..., "__metadata__": {...}? }
/// All offsets are validated at open, so that no lookup reads outside the file.
/// Immutable and thread-safe. Views are valid as long as this object, even after a move.
class SafeTensors {
 public:
  /// Has no tensors.
  SafeTensors() = default;

  /// kNotFound: no such file. kCorrupted: malformed; the message says where.
  static Result<SafeTensors> open(const std::filesystem::path& path);

  bool has(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }

  /// kCorrupted: there is no such tensor.
  Result<Tensor> tensor(std::string_view name) const;

  /// An fp32 tensor of exactly this shape, row-major. kCorrupted: missing, or of another type or shape. kUnsupported: the file does not
  /// align it to four bytes.
  Result<std::span<const float>> floats(std::string_view name, std::initializer_list<std::uint64_t> shape) const;

  /// A matrix stored as 8-bit rows: `base`.int8, and one factor per row in `base`.scale.
  struct ByteRows {
    std::span<const std::int8_t> values;
    std::span<const float> scale;
  };

  /// Whether the matrix `base`.weight is stored as 8-bit rows instead.
  bool has_byte_rows(std::string_view base) const;
  /// Errors as of floats().
  Result<ByteRows> byte_rows(std::string_view base, std::uint64_t rows, std::uint64_t columns) const;

  /// A copy as fp32, converted from fp32, fp16 or bf16. A matrix NAME.weight may also be stored as 8-bit rows.
  Result<std::vector<float>> read_floats(std::string_view name, std::initializer_list<std::uint64_t> shape) const;

  std::string_view file_bytes() const { return file_.bytes(); }

 private:
  using Table = std::map<std::string, Tensor, std::less<>>;

  SafeTensors(MappedFile file, Table tensors) : file_(std::move(file)), tensors_(std::move(tensors)) {}
  static Result<Table> parse(std::string_view file);

  MappedFile file_;
  Table tensors_;
};

}  // namespace footnote::nn
