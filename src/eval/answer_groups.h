#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"

namespace footnote::eval {

/// The results for a group of questions about documents. All counts are questions.
struct AnswerGroup {
  std::string by;    ///< "all", "half", "set", "kind"
  std::string name;  ///< "all", "tune", "sqlite", "howto"
  std::size_t answerable = 0;
  std::size_t right = 0;
  std::size_t in_part = 0;
  std::size_t wrong = 0;
  std::size_t wrong_and_sure = 0;  ///< Wrong answers with high confidence; included in `wrong`.
  std::size_t refused = 0;
  std::size_t right_page = 0;  ///< Answers that cite a document which contains the answer.
  std::size_t found_10 = 0;    ///< Questions for which one of the first 10 passages contains the answer.
  std::size_t found_18 = 0;
  std::size_t unanswerable = 0;
  std::size_t unanswerable_refused = 0;
  std::size_t unanswerable_sure = 0;  ///< Unanswerable questions that were answered with high confidence.
  double ece = 0;                     ///< Calibration error of the confidence of all answers, including those to unanswerable questions.
  double ms_median = 0;
  double ms_p95 = 0;
};

JsonArray groups_json(const std::vector<AnswerGroup>& groups);
/// Shares for people: a table of the answerable questions, and one of the others with confidence and times.
std::string groups_table(const std::vector<AnswerGroup>& groups);

}  // namespace footnote::eval
