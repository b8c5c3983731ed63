#pragma once

#include "engine/late/late_score.h"

namespace footnote::late {

void best_sums_portable(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                        std::uint16_t* best);
/// Used by all higher levels too: 512-bit table lookups are not faster.
void best_sums_avx2(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::uint16_t* best);

}  // namespace footnote::late
