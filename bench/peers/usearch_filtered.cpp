// Search with a predicate in usearch, which its Python package does not offer. indexes.py compiles this against the package's headers.
//
//   usearch_filtered GRAPH QUERIES.f32 DIMENSION SECONDS
//
// GRAPH was written by Index.save() in Python (cosine, f32); keys are row numbers. For each input line "ONE_IN REMAINDER EXPANSION",
// searches with each query for the ten nearest rows with row / 10 % ONE_IN == REMAINDER, for about SECONDS, and prints one line of JSON:
// times and the keys found. The metric is compiled for this machine.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <vector>

#include <usearch/index_dense.hpp>

namespace {

using unum::usearch::index_dense_t;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kNeighbours = 10;
constexpr std::size_t kRunsMin = 20;
constexpr std::size_t kRowsPerDocument = 10;

// Vectors have unit length, so this is the cosine distance.
float distance(const float* a, const float* b, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return 1 - sum;
}

std::vector<float> read_floats(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> out(static_cast<std::size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(float)));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::size_t dimension = std::stoul(argv[3]);
  const double seconds = std::stod(argv[4]);
  const std::vector<float> queries = read_floats(argv[2]);
  const std::size_t count = queries.size() / dimension;

  auto made = index_dense_t::make(argv[1]);
  if (!made) {
    std::cerr << made.error.what() << '\n';
    return 1;
  }
  index_dense_t index = std::move(made.index);
  using unum::usearch::metric_punned_t;
  index.change_metric(metric_punned_t::stateless(dimension, reinterpret_cast<std::uintptr_t>(&distance),
                                                 unum::usearch::metric_punned_signature_t::array_array_size_k,
                                                 unum::usearch::metric_kind_t::ip_k, unum::usearch::scalar_kind_t::f32_k));
  index.reserve(unum::usearch::index_limits_t(index.size(), 1));
  std::cout << "{\"ready\":" << index.size() << "}" << std::endl;

  std::size_t one_in = 0;
  std::size_t remainder = 0;
  std::size_t expansion = 0;
  while (std::cin >> one_in >> remainder >> expansion) {
    index.change_expansion_search(expansion);
    const auto owned = [=](index_dense_t::vector_key_t key) { return key / kRowsPerDocument % one_in == remainder; };
    std::vector<std::vector<index_dense_t::vector_key_t>> found(count);
    std::vector<double> times;
    const std::clock_t used = std::clock();
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (times.size() < kRunsMin || Clock::now() < end) {
      const std::size_t query = times.size() % count;
      const auto begin = Clock::now();
      auto result = index.filtered_search(queries.data() + query * dimension, kNeighbours, owned);
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      found[query].resize(result.size());
      found[query].resize(result.dump_to(found[query].data()));
    }
    const double cpu_us = static_cast<double>(std::clock() - used) * 1e6 / CLOCKS_PER_SEC / static_cast<double>(times.size());
    std::sort(times.begin(), times.end());
    std::cout << "{\"p50_us\":" << times[(times.size() - 1) / 2] << ",\"p99_us\":" << times[(times.size() - 1) * 99 / 100]
              << ",\"cpu_us\":" << cpu_us << ",\"runs\":" << times.size() << ",\"found\":[";
    for (std::size_t query = 0; query < count; ++query) {
      std::cout << (query == 0 ? "[" : ",[");
      for (std::size_t i = 0; i < found[query].size(); ++i) std::cout << (i == 0 ? "" : ",") << found[query][i];
      std::cout << "]";
    }
    std::cout << "]}" << std::endl;
  }
}
