#include "eval/metrics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>

#include "base/text.h"

namespace footnote::eval {
namespace {

/// Calls `see` with each distinct document of the first `k` and its rank from 1, until it returns false.
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

double share(std::size_t part, std::size_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

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

double average_precision(std::span<const std::string> ranking, const Grades& grades) {
  const std::size_t relevant = relevant_count(grades);
  if (relevant == 0) return 0;
  std::size_t found = 0;
  double sum = 0;
  walk(ranking, ranking.size(), [&](const std::string& id, std::size_t rank) {
    if (grade_of(grades, id) > 0) sum += static_cast<double>(++found) / static_cast<double>(rank);
    return true;
  });
  return sum / static_cast<double>(relevant);
}

double area_under_curve(std::span<const double> positives, std::span<const double> negatives) {
  if (positives.empty() || negatives.empty()) return 0.5;
  std::vector<double> sorted(negatives.begin(), negatives.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (const double score : positives) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), score);
    sum += static_cast<double>(low - sorted.begin()) + 0.5 * static_cast<double>(high - low);
  }
  return sum / (static_cast<double>(positives.size()) * static_cast<double>(negatives.size()));
}

void Decisions::add(bool is_yes, bool said_yes) { ++(said_yes ? (is_yes ? right_yes : wrong_yes) : (is_yes ? wrong_no : right_no)); }

double Decisions::precision() const { return share(right_yes, right_yes + wrong_yes); }
double Decisions::recall() const { return share(right_yes, right_yes + wrong_no); }
double Decisions::f1() const { return share(2 * right_yes, 2 * right_yes + wrong_yes + wrong_no); }
double Decisions::accuracy() const { return share(right_yes + right_no, right_yes + right_no + wrong_yes + wrong_no); }

double calibration_error(std::span<const Prediction> predictions) {
  struct Bin {
    double confidence = 0;
    double right = 0;
  };
  std::array<Bin, kCalibrationBins> bins{};
  for (const Prediction& prediction : predictions) {
    const double place = std::clamp(prediction.confidence, 0.0, 1.0) * static_cast<double>(kCalibrationBins);
    Bin& bin = bins[std::min(static_cast<std::size_t>(place), kCalibrationBins - 1)];
    bin.confidence += prediction.confidence;
    bin.right += prediction.right ? 1 : 0;
  }
  double apart = 0;
  for (const Bin& bin : bins) apart += std::abs(bin.confidence - bin.right);
  return predictions.empty() ? 0 : apart / static_cast<double>(predictions.size());
}

double percentile(std::span<const double> values, double share) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double rank = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size()));
  return sorted[rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1];
}

std::vector<std::string> answer_words(std::string_view text) {
  std::string letters;
  for (const char c : to_lower_ascii(text)) {
    if (std::ispunct(static_cast<unsigned char>(c)) == 0) letters.push_back(c);
  }
  std::vector<std::string> out;
  const std::string folded = fold_spaces(letters);
  for (const std::string_view word : split(folded, ' ')) {
    if (!word.empty() && word != "a" && word != "an" && word != "the") out.emplace_back(word);
  }
  return out;
}

bool exact_match(std::string_view answer, std::string_view wanted) { return answer_words(answer) == answer_words(wanted); }

double word_f1(std::string_view answer, std::string_view wanted) {
  const std::vector<std::string> said = answer_words(answer);
  std::vector<std::string> open = answer_words(wanted);
  const std::size_t all = said.size() + open.size();
  std::size_t common = 0;
  for (const std::string& word : said) {
    const auto found = std::find(open.begin(), open.end(), word);
    if (found == open.end()) continue;
    open.erase(found);
    ++common;
  }
  return share(2 * common, all);
}

}  // namespace footnote::eval
