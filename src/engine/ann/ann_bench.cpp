// Times and recall of each plan of the vector index on real vectors.
//   ann_bench [--graph[=FILE] | --paced=FILE] VECTORS QUERIES DIMENSION [ROWS ...]
// Both files hold 32-bit floats, one vector after the other. For the first ROWS vectors and the limits 10 and 100 it prints the median CPU
// time of a search by each plan, its ratio to the scan of full vectors, and its recall against that scan. Then it prints the same for graph
// walks, by effort and with filters, and the cost of loading the index from a file.
// --graph: only the graph, which is stored in FILE and reused from there. --paced: likewise, one line for each effort read from standard
// input, so that another program can alternate with this one.
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "engine/ann/flat_index.h"

namespace {

using namespace footnote;
using ann::ScanPlan;

constexpr std::size_t kQueriesMax = 200;

std::vector<float> floats_of(const std::filesystem::path& path, std::size_t count_max) {
  auto file = InputFile::open(path);
  if (!file) fmt::print(stderr, "{}\n", file.error().message), std::exit(1);
  std::vector<float> out(std::min<std::uint64_t>(file->size() / sizeof(float), count_max));
  if (!file->read(std::as_writable_bytes(std::span(out)))) std::exit(1);
  return out;
}

struct Outcome {
  double p50_us = 0;
  std::vector<std::vector<rows::ScoredLabel>> lists;
  ann::ScanReport report = {};
};

/// CPU time of this thread: on a shared machine it is more stable than wall time.
double processor_us() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

Outcome run(const ann::FlatIndex& index, std::span<const float> queries, ann::FlatQuery query, std::optional<ScanPlan> plan) {
  Outcome out;
  std::vector<double> times;
  query.plan = plan;
  for (std::size_t q = 0; q * index.dimension() < queries.size(); ++q) {
    query.vector = queries.subspan(q * index.dimension(), index.dimension());
    const double begin = processor_us();
    auto list = index.search(query, &out.report);
    times.push_back(processor_us() - begin);
    out.lists.push_back(std::move(list));
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  out.p50_us = times[times.size() / 2];
  return out;
}

double recall(const Outcome& exact, const Outcome& other) {
  std::size_t found = 0, all = 0;
  for (std::size_t q = 0; q < exact.lists.size(); ++q) {
    std::set<std::int64_t> labels;
    for (const auto& hit : other.lists[q]) labels.insert(hit.label);
    for (const auto& hit : exact.lists[q]) found += labels.count(hit.label), ++all;
  }
  return all == 0 ? 1 : static_cast<double>(found) / static_cast<double>(all);
}

void compare(const ann::FlatIndex& index, std::span<const float> queries, const ann::FlatQuery& query, std::string_view what) {
  const Outcome exact = run(index, queries, query, ScanPlan::kFull);
  for (const std::optional<ScanPlan> plan :
       {std::optional(ScanPlan::kFull), std::optional(ScanPlan::kCodes), std::optional(ScanPlan::kSigns), std::optional<ScanPlan>()}) {
    const Outcome outcome = run(index, queries, query, plan);
    const auto& last = outcome.report;
    fmt::print("{:>24} limit {:>4} {:>13} p50 {:>9.1f} us  {:>6.3f} of full  recall {:.4f}  scanned {} compared {} rescored {}\n", what,
               query.limit, plan ? std::string(to_string(*plan)) : fmt::format("chosen: {}", to_string(last.plan)), outcome.p50_us,
               outcome.p50_us / exact.p50_us, recall(exact, outcome), last.scanned / outcome.lists.size(), last.compared,
               last.rescored / outcome.lists.size());
  }
  std::fflush(stdout);
}

class FileSink final : public ByteSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}
  Result<void> write(std::span<const std::byte> bytes) override { return file_.write(bytes); }

 private:
  AtomicFile& file_;
};

class FileSource final : public ByteSource {
 public:
  explicit FileSource(InputFile& file) : file_(file), left_(file.size()) {}
  Result<void> read(std::span<std::byte> out) override {
    FOOTNOTE_CHECK(fits<std::byte>(out.size()));
    left_ -= out.size();
    return file_.read(out);
  }
  std::uint64_t remaining() const override { return left_; }

 private:
  InputFile& file_;
  std::uint64_t left_;
};

/// Loads the graph from the file, or builds it and saves it there. Empty path: builds a new one.
Result<void> give_graph(ann::FlatIndex& index, const std::filesystem::path& path) {
  const auto begin = std::chrono::steady_clock::now();
  const bool is_there = !path.empty() && std::filesystem::exists(path);
  ann::SegmentGraphPtr graph;
  if (is_there) {
    FOOTNOTE_TRY(InputFile file, InputFile::open(path));
    FileSource source(file);
    FOOTNOTE_TRY(graph, index.load_graph(source));
  } else {
    graph = index.build_graph([] { return true; });
    if (!graph) return fail(ErrorCode::kFailedPrecondition, "too few rows for a graph");
  }
  index.use_graph(graph);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  fmt::print("{:>24} graph of {} vectors {} in {:.1f} s, {:.0f} MB\n", "", graph->size(), is_there ? "loaded" : "built", time.count(),
             static_cast<double>(graph->bytes()) / 1e6);
  std::fflush(stdout);
  if (is_there || path.empty()) return {};
  FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(path));
  FileSink sink(file);
  FOOTNOTE_CHECK(index.save_graph(sink));
  return file.commit();
}

void walk_paced(const ann::FlatIndex& index, std::span<const float> queries) {
  ann::FlatQuery query{.vector = {}, .generation = 1, .limit = 10};
  const Outcome exact = run(index, queries, query, ScanPlan::kCodes);
  fmt::print("ready\n");
  std::fflush(stdout);
  while (std::cin >> query.effort) {
    const Outcome outcome = run(index, queries, query, ScanPlan::kGraph);
    fmt::print("{{\"effort\": {}, \"p50_us\": {:.1f}, \"recall\": {:.4f}}}\n", query.effort, outcome.p50_us, recall(exact, outcome));
    std::fflush(stdout);
  }
}

/// The graph's time and recall by effort, over all rows and with filters.
void walk(const ann::FlatIndex& index, std::span<const float> queries, std::size_t count, std::size_t rows_per_group) {
  for (const std::size_t limit : {10, 100}) {
    ann::FlatQuery query{.vector = {}, .generation = 1, .limit = limit};
    const Outcome exact = run(index, queries, query, ScanPlan::kCodes);
    for (const std::size_t effort : {32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768}) {
      if (effort < limit) continue;
      query.effort = effort;
      const Outcome outcome = run(index, queries, query, ScanPlan::kGraph);
      fmt::print("{:>24} limit {:>4} effort {:>4} p50 {:>9.1f} us  recall {:.4f}  visited {} rescored {}\n", "graph", limit, effort,
                 outcome.p50_us, recall(exact, outcome), outcome.report.scanned / outcome.lists.size(),
                 outcome.report.rescored / outcome.lists.size());
    }
    query.effort = 0;
    // One in `one_in` documents passes.
    for (const std::size_t one_in : {1, 2, 4, 8, 16, 32}) {
      rows::GroupMask mask(count / rows_per_group + 1, 0);
      for (std::size_t i = 0; i < mask.size(); i += one_in) mask[i] = 1;
      query.filter.groups = &mask;
      const Outcome among = run(index, queries, query, ScanPlan::kCodes);
      for (const std::optional<ScanPlan> plan :
           {std::optional(ScanPlan::kSigns), std::optional(ScanPlan::kGraph), std::optional<ScanPlan>()}) {
        const Outcome outcome = run(index, queries, query, plan);
        fmt::print("{:>24} limit {:>4} {:>13} p50 {:>9.1f} us (codes {:.1f})  recall {:.4f}  scanned {}\n",
                   fmt::format("one in {}", one_in), limit,
                   plan ? std::string(to_string(*plan)) : fmt::format("chosen: {}", to_string(outcome.report.plan)), outcome.p50_us,
                   among.p50_us, recall(among, outcome), outcome.report.scanned / outcome.lists.size());
      }
    }
    std::fflush(stdout);
  }
}

double resident_mb() {
  const auto text = read_file("/proc/self/statm", 4096);
  return text ? std::stod(text->substr(text->find(' '))) * 4096 / 1e6 : 0;
}

/// Saves, destroys and reloads the index, and reports the time and memory that this takes.
Result<ann::FlatIndex> save_and_load(ann::FlatIndex index, std::size_t rows) {
  const auto folder = std::filesystem::temp_directory_path();
  const auto codes_path = folder / "ann_bench_codes", raw_path = folder / "ann_bench_raw";
  {
    FOOTNOTE_TRY(AtomicFile codes, AtomicFile::create(codes_path));
    FOOTNOTE_TRY(AtomicFile raw, AtomicFile::create(raw_path));
    FileSink codes_sink(codes), raw_sink(raw);
    index.seal();
    FOOTNOTE_CHECK(index.save(codes_sink));
    FOOTNOTE_CHECK(index.save_raw(raw_sink));
    FOOTNOTE_CHECK(codes.commit());
    FOOTNOTE_CHECK(raw.commit());
  }
  index = ann::FlatIndex(index.dimension());
  ::malloc_trim(0);
  const double before = resident_mb();
  const auto begin = std::chrono::steady_clock::now();
  FOOTNOTE_TRY(InputFile codes, InputFile::open(codes_path));
  FOOTNOTE_TRY(InputFile raw, InputFile::open(raw_path));
  FileSource source(codes);
  FOOTNOTE_TRY(index, ann::FlatIndex::load(source, {.born_last = 1, .group_count = 1U << 31}));
  FOOTNOTE_TRY(FileMapping mapping, raw.map());
  const auto owner = std::make_shared<const FileMapping>(std::move(mapping));
  index.attach(std::shared_ptr<const float>(owner, reinterpret_cast<const float*>(owner->bytes().data())));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  fmt::print("{:>24} loaded in {:.0f} ms, {:.0f} MB resident\n", fmt::format("{} rows", rows), time.count(), resident_mb() - before);
  std::filesystem::remove(codes_path);
  std::filesystem::remove(raw_path);
  return index;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  const bool paced = option.starts_with("--paced=");
  const bool graph_only = paced || option == "--graph" || option.starts_with("--graph=");
  const std::filesystem::path graph_file = option.contains('=') ? option.substr(option.find('=') + 1) : "";
  if (graph_only) --argc, ++argv;
  if (argc < 4) {
    fmt::print(stderr, "usage: ann_bench [--graph[=FILE] | --paced=FILE] VECTORS QUERIES DIMENSION [ROWS ...]\n");
    return 2;
  }
  const std::size_t dimension = std::stoul(argv[3]);
  const auto queries = floats_of(argv[2], kQueriesMax * dimension);
  std::vector<std::size_t> sizes;
  for (int i = 4; i < argc; ++i) sizes.push_back(std::stoul(argv[i]));
  if (sizes.empty()) sizes = {1000, 10'000, 100'000};
  for (const std::size_t size : sizes) {
    auto vectors = floats_of(argv[1], size * dimension);
    const std::size_t count = vectors.size() / dimension;
    ann::FlatIndex index(dimension);
    constexpr std::size_t kStep = 4096;
    constexpr std::size_t kRowsPerGroup = 10;
    for (std::size_t begin = 0; begin < count; begin += kStep) {
      std::vector<ann::FlatEntry> entries;
      for (std::size_t i = begin; i < std::min(count, begin + kStep); ++i) {
        entries.push_back({{.label = static_cast<std::int64_t>(i), .group = static_cast<std::uint32_t>(i / kRowsPerGroup), .born = 1},
                           {std::span(vectors).subspan(i * dimension, dimension)}});
      }
      index.apply(entries, {});
    }
    if (graph_only) {
      vectors = {};
      if (paced) {
        // The state after a server start.
        auto loaded = save_and_load(std::move(index), count);
        if (!loaded) return fmt::print(stderr, "{}\n", loaded.error().message), 1;
        index = *std::move(loaded);
      }
      if (const auto done = give_graph(index, graph_file); !done) {
        fmt::print(stderr, "{}\n", done.error().message);
        return 1;
      }
      if (paced) {
        walk_paced(index, queries);
      } else {
        walk(index, queries, count, kRowsPerGroup);
      }
      continue;
    }
    const auto title = fmt::format("{} rows", count);
    for (const std::size_t limit : {10, 100}) compare(index, queries, {.vector = {}, .generation = 1, .limit = limit}, title);
    // Filters that pass 1,000 and 10,000 rows of adjacent documents.
    for (const std::size_t scope : {1000, 10'000}) {
      if (scope * 2 > count) continue;
      rows::GroupMask mask(count / kRowsPerGroup + 1, 0);
      std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(mask.size() / 3), scope / kRowsPerGroup, 1);
      compare(index, queries, {.vector = {}, .generation = 1, .limit = 10, .filter = {.groups = &mask}},
              fmt::format("{} of {} rows", scope, count));
    }
    vectors = {};
    if (give_graph(index, {})) walk(index, queries, count, kRowsPerGroup);
    if (const auto done = save_and_load(std::move(index), count); !done) fmt::print(stderr, "{}\n", done.error().message);
  }
  return 0;
}
