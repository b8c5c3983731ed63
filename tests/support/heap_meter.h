#pragma once

#include <cstddef>

namespace footnote {

/// Measures the heap of the whole process, including C code and libraries. Link the object library footnote_heap_meter into the program; it
/// replaces malloc, or hooks the sanitizer's. Memory from mmap does not count. One meter at a time.
class HeapMeter {
 public:
  /// Starts from the memory in use now.
  HeapMeter();
  /// Peak bytes in use since the start, above those at the start.
  std::size_t peak_bytes() const;

 private:
  std::size_t base_;
};

}  // namespace footnote
