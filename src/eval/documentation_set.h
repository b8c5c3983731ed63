#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/expression.h"

namespace footnote::eval {

/// kTune: questions to develop with. kKeep: held out for the final measurement. kNone: the set is not split.
enum class Half { kNone, kTune, kKeep };
/// "tune", "keep"; empty for kNone.
std::string_view to_string(Half half);
/// nullopt: neither of the two.
std::optional<Half> parse_half(std::string_view name);

struct DocumentationQuestion {
  std::string id;
  std::string text;
  std::string kind;
  Half half = Half::kNone;
  std::optional<Expression> answer = {};  ///< Matches a right answer. nullopt: the documents do not answer the question.
  std::optional<Expression> part = {};    ///< Matches a partly right answer.
  std::vector<std::string> pages = {};    ///< Documents that contain the answer.

  bool answerable() const { return answer.has_value(); }
};

/// The questions about one folder of documents.
struct DocumentationSet {
  std::string name;
  std::filesystem::path documents;
  std::vector<DocumentationQuestion> questions;
};

/// Selects the sets and questions to use.
struct DocumentationChoice {
  std::filesystem::path documents;      ///< The documents; for a folder of sets, the folder that contains one folder per set.
  std::vector<std::string> names = {};  ///< Names of sets; empty: all.
  std::optional<Half> half = {};
  std::size_t limit = 0;  ///< Total number of questions; 0: no limit.
};

inline constexpr std::size_t kDocumentationQuestionsMax = 100'000;
inline constexpr std::size_t kPagesMax = 1000;

/// True for a folder with questions/*.jsonl.
bool is_documentation_folder(const std::filesystem::path& path);

/// The sets of a folder with questions/NAME.jsonl, in the order of their names, each about DOCUMENTS/NAME; or of one such file, about
/// DOCUMENTS itself. A line is {"id","question","kind","answer","part"?,"pages","half"?},
/// {"id","question","kind","unanswerable":true,"why"?,"half"?}, or one of eval/handbook:
/// {"id","question","expect":"answer","path","quote"},
/// {"id","question","expect":"refuse","kind"}. Sets without selected questions are omitted.
/// kInvalidArgument: an invalid line (the message names file and line), an unknown set, or no selected question at all.
Result<std::vector<DocumentationSet>> read_documentation(const std::filesystem::path& path, const DocumentationChoice& choice);

}  // namespace footnote::eval
