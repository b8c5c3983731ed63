#include "bench/indexes.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace footnote::bench {
namespace {

constexpr CorpusId kAll{1};  // the tenants' corpora follow
constexpr std::size_t kBatchRows = 10'000;
constexpr std::size_t kTruthDepth = 100;
constexpr std::size_t kKeywordLimit = 18;
// Rows with equal scores, up to rounding, are interchangeable.
constexpr float kScoreTolerance = 1e-6F;

CorpusId corpus_of(std::size_t tenant) { return {kAll.value + 1 + static_cast<std::int64_t>(tenant)}; }
ChunkId chunk_of(std::size_t row) { return {static_cast<std::int64_t>(row) + 1}; }
std::size_t row_of(ChunkId chunk) { return static_cast<std::size_t>(chunk.value - 1); }

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::int64_t resident_bytes() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

IndexRow index_row(std::size_t row, Generation born) {
  const std::size_t document = row / kRowsPerDocument;
  IndexRow out;
  out.chunk = chunk_of(row);
  out.document = {static_cast<std::int64_t>(document) + 1};
  out.born = born;
  out.document_key = fmt::format("{:08}", document);
  for (const Tenant& tenant : kTenants) {
    if (tenant.owns(row)) out.attributes.tags.emplace_back(tenant.tag);
  }
  return out;
}

/// Adds rows to an index, one batch per generation, and returns the seconds the index took.
template <class Index, class Keep, class Complete>
Result<double> apply_rows(const CallContext& call, Index& index, CorpusId corpus, std::size_t rows, const Keep& keep,
                          const Complete& complete) {
  double seconds = 0;
  IndexChanges changes{.from = 0, .to = 1, .added = {}, .removed = {}};
  const auto flush = [&]() -> Result<void> {
    const Stopwatch watch;
    FOOTNOTE_CHECK(index.apply(call, corpus, changes));
    seconds += watch.seconds();
    changes.from = changes.to++;
    changes.added.clear();
    return {};
  };
  for (std::size_t row = 0; row < rows; ++row) {
    if (!keep(row)) continue;
    changes.added.push_back(index_row(row, changes.to));
    complete(row, changes.added.back());
    if (changes.added.size() == kBatchRows) FOOTNOTE_CHECK(flush());
  }
  if (!changes.added.empty()) FOOTNOTE_CHECK(flush());
  return seconds;
}

/// Saves a corpus, destroys the index and loads it into a new one, measuring the times.
template <class Index>
Result<void> save_and_load(const CallContext& call, CorpusId corpus, int dimension, const std::filesystem::path& folder,
                           std::unique_ptr<Index>& index, IndexBuild& build) {
  const auto path = folder / fmt::format("{}.index", build.index);
  FOOTNOTE_TRY(const Generation generation, index->generation(call, corpus));
  const Stopwatch saving;
  FOOTNOTE_CHECK(index->save(call, path,
                             {.kind = index->kind(),
                              .rules = index->rules(),
                              .corpus = corpus,
                              .space = {.model_id = "bench", .dimension = dimension},
                              .generation = generation,
                              .stamp = 1}));
  build.save_seconds = saving.seconds();
  build.rows = index->extent(corpus).rows;
  build.file_bytes = std::filesystem::file_size(path);
  index = std::make_unique<Index>();
  ::malloc_trim(0);
  const std::int64_t before = resident_bytes();
  const Stopwatch loading;
  FOOTNOTE_TRY(IndexFileReader file, IndexFileReader::open(path));
  FOOTNOTE_CHECK(index->load(file));
  build.load_seconds = loading.seconds();
  build.resident_bytes = resident_bytes() - before;
  return {};
}

std::vector<Filter> tenant_filters() {
  std::vector<Filter> out;
  for (const Tenant& tenant : kTenants) out.emplace_back().tags = {std::string(tenant.tag)};
  return out;
}

std::size_t rows_of(const Tenant& tenant, std::size_t rows) {
  std::size_t out = 0;
  for (std::size_t row = 0; row < rows; ++row) out += tenant.owns(row) ? 1 : 0;
  return out;
}

}  // namespace

Result<std::unique_ptr<VectorBench>> VectorBench::make(const CallContext& call, VectorRows rows, VectorRows queries,
                                                       const std::filesystem::path& folder) {
  std::unique_ptr<VectorBench> out(new VectorBench(std::move(rows), std::move(queries)));
  FOOTNOTE_TRY(out->exact_, ExactScan::over(out->rows_));
  out->filters_ = tenant_filters();
  FOOTNOTE_CHECK(out->fill(call, folder));
  out->find_truth();
  return out;
}

Result<void> VectorBench::fill(const CallContext& call, const std::filesystem::path& folder) {
  const auto add_vector = [&](std::size_t row, IndexRow& out) {
    const auto values = rows_.row(row);
    out.vectors.emplace_back(values.begin(), values.end());
  };
  store_ = std::make_unique<LocalVectorStore>();
  build_.index = "vectors";
  const auto all = [](std::size_t) { return true; };
  FOOTNOTE_TRY(build_.build_seconds, apply_rows(call, *store_, kAll, rows_.count(), all, add_vector));
  FOOTNOTE_CHECK(save_and_load(call, kAll, static_cast<int>(rows_.dimension), folder, store_, build_));
  for (std::size_t tenant = 0; tenant < std::size(kTenants); ++tenant) {
    const auto owned = [&](std::size_t row) { return kTenants[tenant].owns(row); };
    FOOTNOTE_CHECK(apply_rows(call, *store_, corpus_of(tenant), rows_.count(), owned, add_vector));
  }
  return {};
}

void VectorBench::find_truth() {
  truth_ = exact_->nearest_of_each(queries_, kTruthDepth, [](std::size_t) { return true; });
  for (const Tenant& tenant : kTenants) {
    tenant_truths_.push_back(exact_->nearest_of_each(queries_, kTruthDepth, [&](std::size_t row) { return tenant.owns(row); }));
  }
}

Result<std::vector<ScoredChunk>> VectorBench::search(CorpusId corpus, std::size_t limit, const Filter* filter, std::size_t query) const {
  FOOTNOTE_TRY(const Generation generation, store_->generation({}, corpus));
  return store_->search({}, {.corpus = corpus, .generation = generation, .vector = queries_.row(query), .limit = limit, .filter = filter});
}

BenchCase VectorBench::search_case(std::string name, CorpusId corpus, std::size_t limit, const Filter* filter, const Truth& truth,
                                   std::size_t rows) const {
  BenchCase out{std::move(name), rows, queries_.count(), {}, {}};
  out.run = [=, this](std::size_t query) -> Result<void> {
    FOOTNOTE_CHECK(search(corpus, limit, filter, query));
    return {};
  };
  out.more = [=, this, &truth]() -> Result<JsonObject> {
    std::size_t found = 0;
    std::size_t wanted = 0;
    for (std::size_t query = 0; query < queries_.count(); ++query) {
      const auto& nearest = truth[query];
      const std::size_t count = std::min(limit, nearest.size());
      if (count == 0) continue;
      wanted += count;
      const float floor = nearest[count - 1].score - kScoreTolerance;
      FOOTNOTE_TRY(const auto hits, search(corpus, limit, filter, query));
      for (const ScoredChunk& hit : hits) found += exact_->score(queries_.row(query), row_of(hit.chunk)) >= floor ? 1 : 0;
    }
    return JsonObject{{"recall", wanted == 0 ? 0 : static_cast<double>(std::min(found, wanted)) / static_cast<double>(wanted)}};
  };
  return out;
}

std::vector<BenchCase> VectorBench::cases() const {
  std::vector<BenchCase> out;
  out.push_back({"scan.fp32.10",
                 rows_.count(),
                 queries_.count(),
                 [this](std::size_t query) -> Result<void> {
                   [[maybe_unused]] const auto found = exact_->nearest(queries_.row(query), 10);
                   return {};
                 },
                 {}});
  for (const std::size_t limit : {std::size_t{10}, kTruthDepth}) {
    out.push_back(search_case(fmt::format("vectors.all.{}", limit), kAll, limit, nullptr, truth_, rows_.count()));
  }
  for (std::size_t tenant = 0; tenant < std::size(kTenants); ++tenant) {
    const std::size_t rows = rows_of(kTenants[tenant], rows_.count());
    const std::string_view tag = kTenants[tenant].tag;
    out.push_back(search_case(fmt::format("vectors.filter.{}.10", tag), kAll, 10, &filters_[tenant], tenant_truths_[tenant], rows));
    out.push_back(search_case(fmt::format("vectors.corpus.{}.10", tag), corpus_of(tenant), 10, nullptr, tenant_truths_[tenant], rows));
  }
  return out;
}

Result<std::unique_ptr<KeywordBench>> KeywordBench::make(const CallContext& call, const std::vector<std::string>& texts,
                                                         std::vector<std::string> questions, const std::filesystem::path& folder) {
  std::unique_ptr<KeywordBench> out(new KeywordBench(std::move(questions)));
  out->filters_ = tenant_filters();
  out->build_.index = "keywords";
  out->index_ = std::make_unique<LocalKeywordIndex>();
  const auto all = [](std::size_t) { return true; };
  const auto add_text = [&](std::size_t row, IndexRow& to) { to.text = texts[row]; };
  FOOTNOTE_TRY(out->build_.build_seconds, apply_rows(call, *out->index_, kAll, texts.size(), all, add_text));
  FOOTNOTE_CHECK(save_and_load(call, kAll, 0, folder, out->index_, out->build_));
  return out;
}

std::vector<BenchCase> KeywordBench::cases() const {
  const auto search_case = [this](std::string name, const Filter* filter) {
    BenchCase out{std::move(name), build_.rows, questions_.size(), {}, {}};
    out.run = [this, filter](std::size_t question) -> Result<void> {
      FOOTNOTE_TRY(const Generation generation, index_->generation({}, kAll));
      FOOTNOTE_CHECK(index_->search(
          {}, {.corpus = kAll, .generation = generation, .text = questions_[question], .limit = kKeywordLimit, .filter = filter}));
      return {};
    };
    return out;
  };
  std::vector<BenchCase> out{search_case(fmt::format("keywords.all.{}", kKeywordLimit), nullptr)};
  for (std::size_t tenant = 0; tenant < std::size(kTenants); ++tenant) {
    out.push_back(search_case(fmt::format("keywords.filter.{}.{}", kTenants[tenant].tag, kKeywordLimit), &filters_[tenant]));
  }
  return out;
}

}  // namespace footnote::bench
