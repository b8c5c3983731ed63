// Tokens per second of the encoder: encoder_bench MODEL_FOLDER [level [threads [sequences length [seconds]]]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "engine/nn/encoder.h"

namespace {

using footnote::nn::Encoder;
using Clock = std::chrono::steady_clock;

void report_shape(Encoder& encoder, std::size_t count, std::size_t length, std::chrono::seconds time = std::chrono::seconds(3)) {
  std::vector<std::uint32_t> ids(count * length);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint32_t>(1000 + i * 7919 % 20000);
  std::vector<footnote::nn::TokenSpan> sequences;
  for (std::size_t i = 0; i < count; ++i) sequences.push_back({std::span(ids).subspan(i * length, length)});
  std::vector<double> seconds;
  const auto end = Clock::now() + time;
  while (seconds.size() < 5 || Clock::now() < end) {
    const auto begin = Clock::now();
    if (!encoder.encode({}, sequences)) std::abort();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::ranges::sort(seconds);
  const double median = seconds[seconds.size() / 2];
  fmt::print("{:>8} {} threads {:>3}x{:<3}  median {:8.2f} ms  best {:8.2f} ms  {:8.0f} tokens/s (best {:.0f})\n",
             to_string(encoder.level()), encoder.threads(), count, length, median * 1e3, seconds[0] * 1e3,
             static_cast<double>(count * length) / median, static_cast<double>(count * length) / seconds[0]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} MODEL_FOLDER [level [threads [sequences length [seconds]]]]\n", argv[0]);
    return 2;
  }
  footnote::nn::EncoderOptions options;
  if (argc > 2) {
    const auto level = footnote::cpu::parse_cpu_level(argv[2]);
    if (!level) {
      fmt::print(stderr, "{}\n", level.error().message);
      return 2;
    }
    options.level = *level;
  }
  if (argc > 3) options.threads = std::strtoul(argv[3], nullptr, 10);
  auto encoder = Encoder::open(argv[1], options);
  if (!encoder) {
    fmt::print(stderr, "{}\n", encoder.error().message);
    return 1;
  }
  if (argc > 5) {
    const std::chrono::seconds time(argc > 6 ? std::atoi(argv[6]) : 3);
    report_shape(**encoder, std::strtoul(argv[4], nullptr, 10), std::strtoul(argv[5], nullptr, 10), time);
    return 0;
  }
  for (const auto& [count, length] : {std::pair<std::size_t, std::size_t>{1, 16}, {32, 128}, {18, 160}}) {
    report_shape(**encoder, count, length);
  }
  return 0;
}
