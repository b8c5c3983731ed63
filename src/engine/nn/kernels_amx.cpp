#include "engine/nn/kernels.h"
namespace footnote::nn {
const Kernels* amx_kernels() { return nullptr; }
const Kernels* amx_model() { return nullptr; }
}  // namespace footnote::nn
