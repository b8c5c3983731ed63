#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::app {

/// How relevant documents are to one question: document id -> grade. Grades of 0 and below are not relevant.
using Grades = std::map<std::string, int, std::less<>>;

/// Gain grade / log2(rank + 1) over the first `k`, divided by that of the ideal order; 0 where nothing is relevant.
/// Linear gain, as trec_eval and BEIR count it. A document that comes twice counts once, at its first place.
double ndcg_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k);
/// 1 / rank of the first relevant document among the first `k`, or 0.
double reciprocal_rank_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k);
/// Share of the relevant documents found among the first `k`; 0 where nothing is relevant.
double recall_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k);

/// Means over questions.
struct EvalScores {
  std::size_t questions = 0;
  double ndcg_10 = 0;
  double mrr_10 = 0;
  double recall_10 = 0;
  double recall_100 = 0;
};

/// Adds up questions and gives their means.
class EvalScorer {
 public:
  void add(std::span<const std::string> ranking, const Grades& grades);
  EvalScores means() const;

 private:
  EvalScores sums_;
};

}  // namespace footnote::app
