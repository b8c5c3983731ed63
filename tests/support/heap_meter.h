#pragma once

#include <cstddef>

namespace footnote {

/// Measures the heap of the whole process: C and C++, libraries included. Link the object library footnote_heap_meter into the program; it
/// replaces malloc, or listens to the sanitizer's. Memory from mmap does not count. One meter at a time.
class HeapMeter {
 public:
  /// Starts at what is in use now.
  HeapMeter();
  /// The most bytes in use at once since the start, beyond those at the start.
  std::size_t peak_bytes() const;

 private:
  std::size_t base_;
};

}  // namespace footnote
