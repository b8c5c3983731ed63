#include "app/eval_metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace footnote::app {
namespace {

/// Calls `see` with each new document of the first `k` places and its rank from 1, until it returns false.
void walk(std::span<const std::string> ranking, std::size_t k, const std::function<bool(const std::string&, std::size_t)>& see) {
  std::set<std::string_view> seen;
  for (const auto& id : ranking) {
    if (seen.size() == k) return;
    if (!seen.insert(id).second) continue;
    if (!see(id, seen.size())) return;
  }
}

int grade_of(const Grades& grades, const std::string& id) {
  const auto found = grades.find(id);
  return found == grades.end() ? 0 : std::max(found->second, 0);
}

double discount(std::size_t rank) { return std::log2(static_cast<double>(rank) + 1); }

std::size_t relevant_count(const Grades& grades) {
  return static_cast<std::size_t>(std::count_if(grades.begin(), grades.end(), [](const auto& row) { return row.second > 0; }));
}

}  // namespace

double ndcg_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k) {
  double gain = 0;
  walk(ranking, k, [&](const std::string& id, std::size_t rank) {
    gain += grade_of(grades, id) / discount(rank);
    return true;
  });
  std::vector<int> ideal;
  for (const auto& [id, grade] : grades) {
    if (grade > 0) ideal.push_back(grade);
  }
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  double best = 0;
  for (std::size_t i = 0; i < std::min(ideal.size(), k); ++i) best += ideal[i] / discount(i + 1);
  return best > 0 ? gain / best : 0;
}

double reciprocal_rank_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k) {
  double result = 0;
  walk(ranking, k, [&](const std::string& id, std::size_t rank) {
    if (grade_of(grades, id) == 0) return true;
    result = 1.0 / static_cast<double>(rank);
    return false;
  });
  return result;
}

double recall_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k) {
  const std::size_t relevant = relevant_count(grades);
  if (relevant == 0) return 0;
  std::size_t found = 0;
  walk(ranking, k, [&](const std::string& id, std::size_t) {
    if (grade_of(grades, id) > 0) ++found;
    return true;
  });
  return static_cast<double>(found) / static_cast<double>(relevant);
}

void EvalScorer::add(std::span<const std::string> ranking, const Grades& grades) {
  ++sums_.questions;
  sums_.ndcg_10 += ndcg_at(ranking, grades, 10);
  sums_.mrr_10 += reciprocal_rank_at(ranking, grades, 10);
  sums_.recall_10 += recall_at(ranking, grades, 10);
  sums_.recall_100 += recall_at(ranking, grades, 100);
}

EvalScores EvalScorer::means() const {
  EvalScores out = sums_;
  if (out.questions == 0) return out;
  const auto count = static_cast<double>(out.questions);
  out.ndcg_10 /= count;
  out.mrr_10 /= count;
  out.recall_10 /= count;
  out.recall_100 /= count;
  return out;
}

}  // namespace footnote::app
