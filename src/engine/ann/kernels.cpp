#include "engine/ann/kernels.h"

#include "base/assert.h"

namespace footnote::ann {
namespace {

const Kernels* written_for(cpu::CpuLevel level) {
  switch (level) {
    case cpu::CpuLevel::kPortable: return portable_kernels();
    case cpu::CpuLevel::kAvx2:
    case cpu::CpuLevel::kAvx2Int8: return avx2_kernels();
    case cpu::CpuLevel::kAvx512: return avx512_kernels();
    case cpu::CpuLevel::kVnni:
    case cpu::CpuLevel::kAmx: return vnni_kernels();
  }
  return nullptr;
}

}  // namespace

const Kernels& kernels_of(cpu::CpuLevel level) {
  FOOTNOTE_ASSERT(level <= cpu::best_cpu_level());
  const Kernels* found = written_for(level);
  return found != nullptr ? *found : *portable_kernels();
}

}  // namespace footnote::ann
