// The time to compare one question with the candidates of late interaction: late_bench [TOKENS [PASSAGES [LENGTH]]]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "engine/late/late_score.h"

int main(int argc, char** argv) {
  using namespace footnote;
  const auto number = [&](int at, std::size_t otherwise) { return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise; };
  const std::size_t tokens = number(1, 16);
  const std::size_t passages = number(2, 100);
  const std::size_t length = number(3, 160);
  constexpr int kRounds = 301;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const std::size_t dimension : {384U, 192U}) {
    std::vector<float> question(tokens * dimension);
    for (float& value : question) value = normal(random);
    // Contiguous, as if they had just been read.
    std::vector<std::byte> signs(passages * length * dimension / 8);
    for (std::byte& value : signs) value = static_cast<std::byte>(random());
    for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
      const std::size_t bytes = length * dimension / 8;
      std::vector<double> micros;
      double sum = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        const late::LateQuestion compare(question, dimension, level);
        for (std::size_t p = 0; p < passages; ++p) sum += compare.score(std::span(signs).subspan(p * bytes, bytes));
        micros.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      }
      std::ranges::sort(micros);
      fmt::print("{} bits, {:>9}: p50 {:7.0f} us  p99 {:7.0f} us  (sum {:.3f})\n", dimension, cpu::to_string(level), micros[kRounds / 2],
                 micros[kRounds * 99 / 100], sum / kRounds);
    }
  }
}
