#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/input.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"

namespace footnote::bench {

/// Cost of building, saving and loading an index.
struct IndexBuild {
  std::string index;
  std::uint64_t rows = 0;
  double build_seconds = 0;
  double save_seconds = 0;
  double load_seconds = 0;  ///< From a file in the page cache.
  std::uint64_t file_bytes = 0;
  /// Growth of the process with the loaded index, including touched pages of a mapped file.
  std::int64_t resident_bytes = 0;
};

/// Vectors in an index: one corpus with all rows, and one for each tenant with only its rows. Searches run on an index that was saved and
/// loaded, as after a start.
class VectorBench {
 public:
  /// `folder` is for temporary files.
  static Result<std::unique_ptr<VectorBench>> make(const CallContext& call, VectorRows rows, VectorRows queries,
                                                   const std::filesystem::path& folder);

  const IndexBuild& build() const { return build_; }
  /// They borrow this object.
  std::vector<BenchCase> cases() const;

 private:
  using Truth = std::vector<std::vector<rows::ScoredLabel>>;

  VectorBench(VectorRows rows, VectorRows queries) : rows_(std::move(rows)), queries_(std::move(queries)) {}
  Result<void> fill(const CallContext& call, const std::filesystem::path& folder);
  void find_truth();
  BenchCase search_case(std::string name, CorpusId corpus, std::size_t limit, const Filter* filter, const Truth& truth,
                        std::size_t rows) const;
  Result<std::vector<ScoredChunk>> search(CorpusId corpus, std::size_t limit, const Filter* filter, std::size_t query) const;

  const VectorRows rows_;
  const VectorRows queries_;
  std::optional<ExactScan> exact_;
  std::unique_ptr<LocalVectorStore> store_;
  IndexBuild build_;
  std::vector<Filter> filters_;       ///< One per tenant.
  Truth truth_;                       ///< Expected results over all rows.
  std::vector<Truth> tenant_truths_;  ///< Expected results of each tenant.
};

/// The same for the keyword index.
class KeywordBench {
 public:
  static Result<std::unique_ptr<KeywordBench>> make(const CallContext& call, const std::vector<std::string>& texts,
                                                    std::vector<std::string> questions, const std::filesystem::path& folder);

  const IndexBuild& build() const { return build_; }
  std::vector<BenchCase> cases() const;

 private:
  explicit KeywordBench(std::vector<std::string> questions) : questions_(std::move(questions)) {}

  const std::vector<std::string> questions_;
  std::unique_ptr<LocalKeywordIndex> index_;
  IndexBuild build_;
  std::vector<Filter> filters_;  ///< One per tenant.
};

}  // namespace footnote::bench
