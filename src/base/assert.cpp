#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace footnote {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "footnote: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace footnote
