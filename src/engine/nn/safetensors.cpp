#include "engine/nn/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/json.h"

namespace footnote::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read in place");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kHeaderBytesMax = 16U << 20;
constexpr std::size_t kRankMax = 8;
constexpr std::string_view kWeightSuffix = ".weight";

struct NamedType {
  std::string_view name;
  DataType type;
  std::uint64_t bytes;  // Zero: size not checked.
};

constexpr NamedType kTypes[] = {{"F32", DataType::kF32, 4}, {"F16", DataType::kF16, 2}, {"BF16", DataType::kBf16, 2},
                                {"I64", DataType::kI64, 8}, {"I32", DataType::kI32, 4}, {"I8", DataType::kI8, 1},
                                {"U8", DataType::kU8, 1}};

NamedType type_of(std::string_view name) {
  for (const NamedType& known : kTypes) {
    if (known.name == name) return known;
  }
  return {name, DataType::kOther, 0};
}

std::optional<std::uint64_t> unsigned_of(const Json& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) return static_cast<std::uint64_t>(value.get_int64());
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> unsigned_list(const Json* value, std::size_t count_max) {
  if (value == nullptr || !value->is_array() || value->get_array().size() > count_max) return std::nullopt;
  std::vector<std::uint64_t> out;
  for (const Json& element : value->get_array()) {
    const auto number = unsigned_of(element);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

Result<Tensor> read_entry(std::string_view name, const Json& value, std::string_view data) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::kCorrupted, "tensor '{}' of the safetensors header has {}", name, what);
  };
  if (!value.is_object()) return bad("no description");
  const JsonObject& entry = value.get_object();
  const Json* type_name = entry.if_contains("dtype");
  if (type_name == nullptr || !type_name->is_string()) return bad("no dtype");
  const auto shape = unsigned_list(entry.if_contains("shape"), kRankMax);
  if (!shape) return bad("no shape");
  const auto offsets = unsigned_list(entry.if_contains("data_offsets"), 2);
  if (!offsets || offsets->size() != 2) return bad("no data_offsets");
  const std::uint64_t begin = (*offsets)[0];
  const std::uint64_t end = (*offsets)[1];
  if (begin > end || end > data.size()) return bad("data_offsets outside of the file");
  const NamedType type = type_of({type_name->get_string().data(), type_name->get_string().size()});
  std::uint64_t bytes = type.bytes;
  for (const std::uint64_t extent : *shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return bad("a shape that overflows");
  }
  if (type.bytes != 0 && bytes != end - begin) return bad("a shape that does not match its data_offsets");
  return Tensor{type.type, *shape, data.substr(begin, end - begin)};
}

Result<void> check_no_overlap(const std::map<std::string, Tensor, std::less<>>& tensors) {
  std::vector<std::pair<std::string_view, std::string_view>> sorted;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.bytes.empty()) sorted.emplace_back(tensor.bytes, name);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first.data() < b.first.data(); });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1].first.data() + sorted[i - 1].first.size() > sorted[i].first.data()) {
      return fail(ErrorCode::kCorrupted, "tensors '{}' and '{}' of the safetensors file overlap", sorted[i - 1].second, sorted[i].second);
    }
  }
  return {};
}

Result<void> check_shape(std::string_view name, const Tensor& tensor, std::initializer_list<std::uint64_t> shape) {
  if (std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end())) return {};
  return fail(ErrorCode::kCorrupted, "tensor '{}' has the shape [{}], [{}] is expected", name, fmt::join(tensor.shape, ", "),
              fmt::join(shape, ", "));
}

bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::vector<float> restored(const SafeTensors::ByteRows& kept) {
  std::vector<float> out(kept.values.size());
  const std::size_t columns = kept.scale.empty() ? 0 : kept.values.size() / kept.scale.size();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(kept.values[i]) * kept.scale[i / columns];
  return out;
}

/// IEEE half precision, including denormals and infinities.
float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half} >> 15 << 31;
  const std::uint32_t exponent = half >> 10 & 31U;
  const std::uint32_t fraction = half & 1023U;
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24F;
    return sign == 0 ? small : -small;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable, "open {}: {}", path.string(), std::strerror(errno));
  }
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return fail(ErrorCode::kUnavailable, "{} is not a regular file", path.string());
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);  // The mapping outlives it.
  if (address == MAP_FAILED) return fail(ErrorCode::kUnavailable, "map {}: {}", path.string(), std::strerror(error));
  return MappedFile(address, size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

Result<SafeTensors::Table> SafeTensors::parse(std::string_view file) {
  if (file.size() < kLengthBytes) return fail(ErrorCode::kCorrupted, "a safetensors file of {} bytes is truncated", file.size());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), kLengthBytes);
  if (header_bytes > kHeaderBytesMax || header_bytes > file.size() - kLengthBytes) {
    return fail(ErrorCode::kCorrupted, "the safetensors header claims {} bytes in a file of {}", header_bytes, file.size());
  }
  const auto header = parse_json(file.substr(kLengthBytes, header_bytes));
  if (!header || !header->is_object()) return fail(ErrorCode::kCorrupted, "the safetensors header is not a JSON object");
  const std::string_view data = file.substr(kLengthBytes + header_bytes);
  Table out;
  for (const auto& member : header->get_object()) {
    const std::string_view name(member.key().data(), member.key().size());
    if (name == "__metadata__") continue;
    FOOTNOTE_TRY(Tensor tensor, read_entry(name, member.value(), data));
    out.emplace(std::string(name), std::move(tensor));
  }
  FOOTNOTE_CHECK(check_no_overlap(out));
  return out;
}

Result<SafeTensors> SafeTensors::open(const std::filesystem::path& path) {
  FOOTNOTE_TRY(MappedFile file, MappedFile::open(path));
  FOOTNOTE_TRY(Table tensors, parse(file.bytes()));
  return SafeTensors(std::move(file), std::move(tensors));
}

Result<Tensor> SafeTensors::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return fail(ErrorCode::kCorrupted, "the safetensors file has no tensor '{}'", name);
  return found->second;
}

Result<std::span<const float>> SafeTensors::floats(std::string_view name, std::initializer_list<std::uint64_t> shape) const {
  FOOTNOTE_TRY(const Tensor found, tensor(name));
  if (found.type != DataType::kF32) return fail(ErrorCode::kCorrupted, "tensor '{}' is not F32", name);
  FOOTNOTE_CHECK(check_shape(name, found, shape));
  if (reinterpret_cast<std::uintptr_t>(found.bytes.data()) % alignof(float) != 0) {
    return fail(ErrorCode::kUnsupported, "tensor '{}' is not aligned to {} bytes", name, alignof(float));
  }
  return std::span(reinterpret_cast<const float*>(found.bytes.data()), found.bytes.size() / sizeof(float));
}

bool SafeTensors::has_byte_rows(std::string_view base) const { return has(fmt::format("{}.int8", base)); }

Result<SafeTensors::ByteRows> SafeTensors::byte_rows(std::string_view base, std::uint64_t rows, std::uint64_t columns) const {
  const std::string name = fmt::format("{}.int8", base);
  FOOTNOTE_TRY(const Tensor found, tensor(name));
  if (found.type != DataType::kI8) return fail(ErrorCode::kCorrupted, "tensor '{}' is not I8", name);
  FOOTNOTE_CHECK(check_shape(name, found, {rows, columns}));
  FOOTNOTE_TRY(const auto scale, floats(fmt::format("{}.scale", base), {rows, 1}));
  return ByteRows{{reinterpret_cast<const std::int8_t*>(found.bytes.data()), found.bytes.size()}, scale};
}

Result<std::vector<float>> SafeTensors::read_floats(std::string_view name, std::initializer_list<std::uint64_t> shape) const {
  std::string_view base = name;
  if (!has(name) && shape.size() == 2 && remove_suffix(base, kWeightSuffix) && has_byte_rows(base)) {
    FOOTNOTE_TRY(const ByteRows kept, byte_rows(base, shape.begin()[0], shape.begin()[1]));
    return restored(kept);
  }
  FOOTNOTE_TRY(const Tensor found, tensor(name));
  FOOTNOTE_CHECK(check_shape(name, found, shape));
  const bool whole = found.type == DataType::kF32;
  if (!whole && found.type != DataType::kF16 && found.type != DataType::kBf16) {
    return fail(ErrorCode::kUnsupported, "tensor '{}' is neither F32 nor F16 nor BF16", name);
  }
  std::vector<float> out(found.bytes.size() / (whole ? sizeof(float) : sizeof(std::uint16_t)));
  if (whole) {
    std::memcpy(out.data(), found.bytes.data(), found.bytes.size());
    return out;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, found.bytes.data() + i * sizeof(bits), sizeof(bits));
    out[i] = found.type == DataType::kBf16 ? std::bit_cast<float>(std::uint32_t{bits} << 16) : half_to_float(bits);
  }
  return out;
}

}  // namespace footnote::nn
