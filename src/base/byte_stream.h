#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace footnote {

// A binary format for our own files: values one after the other, numbers in little-endian byte order.
static_assert(std::endian::native == std::endian::little, "numbers are written in native byte order");

/// A destination for bytes.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;

  template <class T>
    requires std::is_arithmetic_v<T>
  Result<void> put(T value) {
    return write(std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  Result<void> put_all(std::span<const T> values) {
    return write(std::as_bytes(values));
  }
  /// text := length:u64 bytes
  Result<void> put_text(std::string_view text) {
    FOOTNOTE_CHECK(put(static_cast<std::uint64_t>(text.size())));
    return write(std::as_bytes(std::span(text)));
  }
};

/// A source of bytes that does not trust them: a length that exceeds remaining() is kCorrupted, before anything is read or allocated.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out`. REQUIRES: out.size() <= remaining().
  virtual Result<void> read(std::span<std::byte> out) = 0;
  virtual std::uint64_t remaining() const = 0;

  template <class T>
    requires std::is_arithmetic_v<T>
  Result<T> take() {
    T value{};
    FOOTNOTE_CHECK(fits<T>(1));
    FOOTNOTE_CHECK(read(std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  Result<std::vector<T>> take_all(std::uint64_t count) {
    FOOTNOTE_CHECK(fits<T>(count));
    std::vector<T> values(static_cast<std::size_t>(count));
    FOOTNOTE_CHECK(read(std::as_writable_bytes(std::span(values))));
    return values;
  }
  Result<std::string> take_text() {
    FOOTNOTE_TRY(const auto size, take<std::uint64_t>());
    FOOTNOTE_CHECK(fits<char>(size));
    std::string text(static_cast<std::size_t>(size), '\0');
    FOOTNOTE_CHECK(read(std::as_writable_bytes(std::span(text))));
    return text;
  }
  /// kCorrupted unless `count` more values of T remain.
  template <class T>
  Result<void> fits(std::uint64_t count) const {
    if (count <= remaining() / sizeof(T)) return {};
    return fail(ErrorCode::kCorrupted, "{} values are expected, but only {} bytes are left", count, remaining());
  }
};

/// Collects the bytes in memory.
class BufferSink final : public ByteSink {
 public:
  Result<void> write(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  }
  std::vector<std::byte> bytes;
};

/// Reads from memory that it borrows.
class BufferSource final : public ByteSource {
 public:
  explicit BufferSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Result<void> read(std::span<std::byte> out) override {
    FOOTNOTE_CHECK(fits<std::byte>(out.size()));
    std::copy_n(bytes_.begin(), out.size(), out.begin());
    bytes_ = bytes_.subspan(out.size());
    return {};
  }
  std::uint64_t remaining() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

/// Counts the bytes and drops them.
class ByteCount final : public ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    count_ += bytes.size();
    return {};
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

}  // namespace footnote
