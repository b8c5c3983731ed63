#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/ann/kernels.h"
#include "engine/rows/top_k.h"

namespace footnote::bench {

/// Memory in huge pages where the system has them, at the start of one: a scan of 150 MB is half as long again without, and what
/// others are measured by shall be as fast as it can be.
template <class T>
struct HugePages {
  using value_type = T;
  static constexpr std::align_val_t kPage{2 << 20};

  T* allocate(std::size_t count) {
    auto* const out = static_cast<T*>(::operator new(count * sizeof(T), kPage));
#if defined(__linux__)
    ::madvise(out, count * sizeof(T), MADV_HUGEPAGE);  // A wish: failing changes nothing.
#endif
    return out;
  }
  void deallocate(T* values, std::size_t) { ::operator delete(values, kPage); }
  bool operator==(const HugePages&) const = default;
};
using HugePageFloats = std::vector<float, HugePages<float>>;

/// Vectors in a file without a head: rows of little-endian floats, one after the other.
struct VectorRows {
  std::size_t dimension = 0;
  HugePageFloats values;

  std::size_t count() const { return dimension == 0 ? 0 : values.size() / dimension; }
  std::span<const float> row(std::size_t index) const { return std::span(values).subspan(index * dimension, dimension); }
};

/// The first `rows_max` rows (0: all). kInvalidArgument: the file does not hold whole rows, or fewer than were asked for.
Result<VectorRows> read_vectors(const std::filesystem::path& path, std::size_t dimension, std::size_t rows_max = 0);

/// The "text" of each line of a JSONL file, empty ones left out; the first `lines_max` (0: all). kInvalidArgument names the line.
Result<std::vector<std::string>> read_texts(const std::filesystem::path& path, std::size_t lines_max = 0);

/// Which rows of a bench's vectors a tenant owns: documents of kRowsPerDocument rows each, some of them with the tenant's tag.
inline constexpr std::size_t kRowsPerDocument = 10;
struct Tenant {
  std::string_view tag;
  std::size_t one_in = 1;     ///< Documents, of which one is the tenant's,
  std::size_t remainder = 0;  ///< namely the one with this remainder.

  bool owns(std::size_t row) const { return row / kRowsPerDocument % one_in == remainder; }
};
inline constexpr Tenant kTenants[] = {{"one-percent", 100, 0}, {"ten-percent", 10, 1}};

/// Nearest rows by dot product in 32 bits, nothing left out: what others are measured by. Borrows the rows.
class ExactScan {
 public:
  /// kInvalidArgument: a dimension that is no multiple of ann::kFloatPadding.
  static Result<ExactScan> over(const VectorRows& rows);

  /// Best first, equal scores by row.
  std::vector<rows::ScoredLabel> nearest(std::span<const float> query, std::size_t limit) const;

  /// The same of each query, among the rows that `keep` lets through; reads each row once for all of them.
  std::vector<std::vector<rows::ScoredLabel>> nearest_of_each(const VectorRows& queries, std::size_t limit,
                                                              const std::function<bool(std::size_t)>& keep) const;

  float score(std::span<const float> query, std::size_t row) const;

 private:
  ExactScan(const VectorRows& rows, ann::Kernels::Floats dot) : rows_(&rows), dot_(dot) {}

  const VectorRows* rows_;
  ann::Kernels::Floats dot_;
};

}  // namespace footnote::bench
