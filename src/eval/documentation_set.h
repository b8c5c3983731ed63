#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/expression.h"

namespace footnote::eval {

/// Questions to work with, or kept for the end; kNone: not divided.
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
  std::optional<Expression> answer = {};  ///< Of a right answer; none: the documents do not answer.
  std::optional<Expression> part = {};    ///< Of one that is right in part.
  std::vector<std::string> pages = {};    ///< Documents on which the answer stands.

  bool answerable() const { return answer.has_value(); }
};

/// The questions about one folder of documents.
struct DocumentationSet {
  std::string name;
  std::filesystem::path documents;
  std::vector<DocumentationQuestion> questions;
};

/// What is asked of what is there.
struct DocumentationChoice {
  std::filesystem::path documents;      ///< Of a folder of sets: the folder with a folder for each of them.
  std::vector<std::string> names = {};  ///< Of sets; all when empty.
  std::optional<Half> half = {};
  std::size_t limit = 0;  ///< Questions in all; 0: no limit.
};

inline constexpr std::size_t kDocumentationQuestionsMax = 100'000;
inline constexpr std::size_t kPagesMax = 1000;

/// True for a folder with questions/*.jsonl.
bool is_documentation_folder(const std::filesystem::path& path);

/// The sets of a folder with questions/NAME.jsonl, in the order of their names, each about DOCUMENTS/NAME; or of one such file, about
/// DOCUMENTS itself. A line is {"id","question","kind","answer","part"?,"pages","half"?},
/// {"id","question","kind","unanswerable":true,"why"?,"half"?}, or one of eval/handbook:
/// {"id","question","expect":"answer","path","quote"},
/// {"id","question","expect":"refuse","kind"}. Sets of which nothing is left are left out.
/// kInvalidArgument names file and line; a set that is not there; or that nothing is left.
Result<std::vector<DocumentationSet>> read_documentation(const std::filesystem::path& path, const DocumentationChoice& choice);

}  // namespace footnote::eval
