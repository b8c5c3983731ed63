#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/nn/kernels.h"
#include "engine/nn/pack.h"
// Must follow the headers that it uses.
#include "engine/nn/kernels_bf16.h"
#include "engine/nn/kernels_int8.h"
#include "engine/nn/vector_model.h"

namespace footnote::nn {

const Kernels* vnni_model() { return int8_kernels<Model>(); }
const Kernels* amx_model() { return bf16_kernels<Model, ModelTiles>(); }

}  // namespace footnote::nn
