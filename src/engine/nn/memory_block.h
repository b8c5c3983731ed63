#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"

namespace footnote::nn {

/// Zeroed bytes aligned for every vector width. Large blocks use huge pages, and take physical memory only where they are touched.
class MemoryBlock {
 public:
  MemoryBlock() = default;

  /// kResourceExhausted when out of memory.
  static Result<MemoryBlock> allocate(std::size_t bytes);

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  float* floats() { return reinterpret_cast<float*>(bytes_.get()); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };

  MemoryBlock(std::byte* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace footnote::nn
