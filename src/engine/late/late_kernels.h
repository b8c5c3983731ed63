#pragma once

#include "engine/late/late_score.h"

namespace footnote::late {

void best_sums_portable(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                        std::uint16_t* best);
/// For all levels above: vectors of 512 bits look up no more tables in the same time, here as there.
void best_sums_avx2(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::uint16_t* best);

}  // namespace footnote::late
