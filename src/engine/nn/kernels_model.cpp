#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/nn/kernels.h"
// After what they use.
#include "engine/nn/kernels_common.h"
#include "engine/nn/kernels_int8.h"
#include "engine/nn/vector_model.h"

namespace footnote::nn {

const Kernels* vnni_model() { return int8_kernels<Model>(); }

}  // namespace footnote::nn
