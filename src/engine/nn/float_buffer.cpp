#include "engine/nn/float_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace footnote::nn {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = 2U << 20;

}  // namespace

void FloatBuffer::Free::operator()(float* floats) const { std::free(floats); }

Result<FloatBuffer> FloatBuffer::allocate(std::size_t count) {
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(float);
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<float*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) return fail(ErrorCode::kResourceExhausted, "no memory for {} floats", count);
  if (alignment == kHugePage) ::madvise(memory, rounded, MADV_HUGEPAGE);  // A wish: nothing depends on it.
  std::memset(memory, 0, rounded);
  return FloatBuffer(memory, count);
}

Result<PackedMatrix> PackedMatrix::pack(std::span<const Part> parts, std::size_t depth, std::size_t panel_columns) {
  PackedMatrix out;
  out.depth_ = depth;
  for (const Part& part : parts) out.columns_ += part.bias.size();
  FOOTNOTE_TRY(out.panels_, FloatBuffer::allocate(out.columns_ * depth));
  FOOTNOTE_TRY(out.bias_, FloatBuffer::allocate(out.columns_));
  float* panels = out.panels_.data();
  float* bias = out.bias_.data();
  for (const Part& part : parts) {
    for (std::size_t first = 0; first < part.bias.size(); first += panel_columns) {
      for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t column = 0; column < panel_columns; ++column) {
          *panels++ = part.weight[(first + column) * depth + k];
        }
      }
    }
    bias = std::copy(part.bias.begin(), part.bias.end(), bias);
  }
  return out;
}

}  // namespace footnote::nn
