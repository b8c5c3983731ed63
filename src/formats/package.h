#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

struct archive;

namespace footnote::formats {

/// Limits on what a packed document may unpack to. Unread parts (images) do not count, and nested packages are never opened.
inline constexpr std::size_t kEntriesMax = 10'000;
inline constexpr std::size_t kUnpackedBytesMax = 200u << 20;
/// After this many unpacked bytes, the ratio of unpacked to packed size is limited.
inline constexpr std::size_t kRatioFreeBytes = 16u << 20;
inline constexpr std::size_t kRatioMax = 100;
/// Limit for parts that are read as a whole: styles, relations, metadata.
inline constexpr std::size_t kPartBytesMax = 4u << 20;
/// Limit for parts that are held in memory at the same time: slides, chapters.
inline constexpr std::size_t kPartsBytesBase = 2u << 20;
inline constexpr std::size_t kPartsBytesPerByte = 4;

class Package;

/// The unpacked bytes of one part, in pieces.
class PartStream {
 public:
  /// 0 at the end; negative on an error, see error().
  std::ptrdiff_t read(char* out, std::size_t bytes);
  /// Reads the remaining bytes. kTooLarge past `bytes_max`.
  Result<std::string> rest(std::size_t bytes_max);
  /// Set if read() failed.
  const Result<void>& error() const { return error_; }

 private:
  friend class Package;
  struct Close {
    void operator()(archive* handle) const;
  };

  std::unique_ptr<archive, Close> handle_;
  Package* package_ = nullptr;
  Result<void> error_;
};

/// A ZIP file in memory: DOCX, PPTX, XLSX, OpenDocument, EPUB. Reads parts by name, within the bounds above. Borrows the bytes.
class Package {
 public:
  /// kUnsupported: damaged, or protected by a password. kTooLarge: more than kEntriesMax entries.
  static Result<Package> open(std::string_view bytes);

  const std::set<std::string>& names() const { return names_; }
  bool has(const std::string& name) const { return names_.contains(name); }

  /// Streams must not outlive the package; do not move the package while a stream exists. kUnsupported: no such part.
  Result<PartStream> stream(const std::string& name);
  /// A whole part. kUnsupported: no such part. kTooLarge past `bytes_max`.
  Result<std::string> read(const std::string& name, std::size_t bytes_max = kPartBytesMax);
  /// Reads the named parts in one pass, instead of searching the package for each. kTooLarge past parts_bytes_max().
  Result<std::map<std::string, std::string>> read_all(const std::function<bool(const std::string&)>& is_wanted);

 private:
  friend class PartStream;
  std::size_t parts_bytes_max() const { return kPartsBytesBase + kPartsBytesPerByte * bytes_.size(); }
  /// kTooLarge if these bytes exceed a limit.
  Result<void> count(std::size_t unpacked);

  std::string_view bytes_;
  std::set<std::string> names_;
  std::size_t unpacked_ = 0;
};

}  // namespace footnote::formats
