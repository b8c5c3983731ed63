#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"

namespace footnote::eval {

/// What became of a group of questions about documents. Counts are of questions.
struct AnswerGroup {
  std::string by;    ///< "all", "half", "set", "kind"
  std::string name;  ///< "all", "tune", "sqlite", "howto"
  std::size_t answerable = 0;
  std::size_t right = 0;
  std::size_t in_part = 0;
  std::size_t wrong = 0;
  std::size_t wrong_and_sure = 0;  ///< Of the wrong ones.
  std::size_t refused = 0;
  std::size_t right_page = 0;  ///< A document was cited that holds the answer.
  std::size_t found_10 = 0;    ///< One of the first 10 passages holds the answer.
  std::size_t found_18 = 0;
  std::size_t unanswerable = 0;
  std::size_t unanswerable_refused = 0;
  std::size_t unanswerable_sure = 0;  ///< Answered, and sure.
  double ece = 0;                     ///< Of the confidence of all that was answered, unanswerable questions included.
  double ms_median = 0;
  double ms_p95 = 0;
};

JsonArray groups_json(const std::vector<AnswerGroup>& groups);
/// Shares for people: a table of the answerable questions, and one of the others with confidence and times.
std::string groups_table(const std::vector<AnswerGroup>& groups);

}  // namespace footnote::eval
