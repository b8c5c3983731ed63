#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::eval {

/// Relevance judgements of one question: document id -> grade. Grades <= 0 are not relevant.
using Grades = std::map<std::string, int, std::less<>>;

/// DCG (grade / log2(rank + 1)) of the first `k`, divided by that of the ideal order; 0 if nothing is relevant. Linear gain, as in
/// trec_eval and BEIR. A duplicate counts only at its first place.
double ndcg_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k);
/// 1 / rank of the first relevant document among the first `k`, or 0.
double reciprocal_rank_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k);
/// Share of the relevant documents found among the first `k`; 0 if nothing is relevant.
double recall_at(std::span<const std::string> ranking, const Grades& grades, std::size_t k);

/// Mean of the precision at each relevant document's rank, over all relevant documents; missing ones count 0.
double average_precision(std::span<const std::string> ranking, const Grades& grades);

/// ROC AUC: the probability that a positive scores above a negative; a tie counts half. 0.5 if either is empty.
double area_under_curve(std::span<const double> positives, std::span<const double> negatives);

/// A confusion matrix of yes-or-no decisions.
struct Decisions {
  std::size_t right_yes = 0, wrong_yes = 0, right_no = 0, wrong_no = 0;

  void add(bool is_yes, bool said_yes);
  /// Of "yes" decisions; 0 if there were none, or none was right.
  double precision() const;
  double recall() const;
  double f1() const;
  double accuracy() const;
};

/// An answer that was given with this confidence, 0..1.
struct Prediction {
  double confidence = 0;
  bool right = false;
};
inline constexpr std::size_t kCalibrationBins = 10;
/// Expected calibration error: the mean of |mean confidence - share of right answers| over kCalibrationBins bins of equal width, weighted
/// by the number of answers per bin. 0 without answers.
double calibration_error(std::span<const Prediction> predictions);

/// The smallest value that is >= this share of the values; 0 without values.
double percentile(std::span<const double> values, double share);

/// The words of an answer as SQuAD compares them: lower case, without punctuation and articles.
std::vector<std::string> answer_words(std::string_view text);
bool exact_match(std::string_view answer, std::string_view wanted);
/// Harmonic mean of precision and recall of the words, as multisets.
double word_f1(std::string_view answer, std::string_view wanted);

}  // namespace footnote::eval
