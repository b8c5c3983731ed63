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

/// Memory aligned to and backed by huge pages where available: without them a scan of 150 MB takes 1.5 times as long, and the baseline
/// should be as fast as possible.
template <class T>
struct HugePages {
  using value_type = T;
  static constexpr std::align_val_t kPage{2 << 20};

  T* allocate(std::size_t count) {
    auto* const out = static_cast<T*>(::operator new(count * sizeof(T), kPage));
#if defined(__linux__)
    ::madvise(out, count * sizeof(T), MADV_HUGEPAGE);  // only a hint: failure is harmless
#endif
    return out;
  }
  void deallocate(T* values, std::size_t) { ::operator delete(values, kPage); }
  bool operator==(const HugePages&) const = default;
};
using HugePageFloats = std::vector<float, HugePages<float>>;

/// Vectors from a headerless file: rows of little-endian floats.
struct VectorRows {
  std::size_t dimension = 0;
  HugePageFloats values;

  std::size_t count() const { return dimension == 0 ? 0 : values.size() / dimension; }
  std::span<const float> row(std::size_t index) const { return std::span(values).subspan(index * dimension, dimension); }
};

/// The first `rows_max` rows (0: all). kInvalidArgument: the file does not contain whole rows, or has fewer than requested.
Result<VectorRows> read_vectors(const std::filesystem::path& path, std::size_t dimension, std::size_t rows_max = 0);

/// The "text" of each line of a JSONL file, without empty ones; the first `lines_max` (0: all). kInvalidArgument names the line.
Result<std::vector<std::string>> read_texts(const std::filesystem::path& path, std::size_t lines_max = 0);

/// Which rows of a benchmark's vectors a tenant owns: documents have kRowsPerDocument rows each, some with the tenant's tag.
inline constexpr std::size_t kRowsPerDocument = 10;
struct Tenant {
  std::string_view tag;
  std::size_t one_in = 1;     ///< The tenant owns every document whose number has this remainder
  std::size_t remainder = 0;  ///< modulo `one_in`.

  bool owns(std::size_t row) const { return row / kRowsPerDocument % one_in == remainder; }
};
inline constexpr Tenant kTenants[] = {{"one-percent", 100, 0}, {"ten-percent", 10, 1}};

/// Exact nearest rows by 32-bit dot product: the baseline. Borrows the rows.
class ExactScan {
 public:
  /// kInvalidArgument: the dimension is not a multiple of ann::kFloatPadding.
  static Result<ExactScan> over(const VectorRows& rows);

  /// Best first, ties by row.
  std::vector<rows::ScoredLabel> nearest(std::span<const float> query, std::size_t limit) const;

  /// The same for each query, among the rows that `keep` accepts; reads each row once for all queries.
  std::vector<std::vector<rows::ScoredLabel>> nearest_of_each(const VectorRows& queries, std::size_t limit,
                                                              const std::function<bool(std::size_t)>& keep) const;

  float score(std::span<const float> query, std::size_t row) const;

 private:
  ExactScan(const VectorRows& rows, ann::Kernels::Floats dot) : rows_(&rows), dot_(dot) {}

  const VectorRows* rows_;
  ann::Kernels::Floats dot_;
};

}  // namespace footnote::bench
