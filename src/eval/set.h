#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/metrics.h"

namespace footnote::eval {

/// What a set measures; detected from its format.
///   kRetrieval  a folder with corpus.jsonl, queries.jsonl, qrels/test.tsv                      (BEIR)
///   kReading    JSONL {"question", "context", "answers":[{"text"}]}, no answer: unanswerable  (SQuAD)
///   kGrounding  JSONL {"claim", "evidence" or "evidence_sentences", "label"}
///   kDocumentation  a folder with questions/NAME.jsonl, or such a file: {"question", "answer", "pages"} (documentation_set.h)
///   kQuestions  JSONL {"question", "documents"?, "answers"?, "answerable"?} of a corpus that is there
enum class EvalKind { kRetrieval, kReading, kGrounding, kQuestions, kDocumentation };
std::string_view to_string(EvalKind kind);

/// kInvalidArgument lists the formats; kNotFound: no such file or folder.
Result<EvalKind> kind_of(const std::filesystem::path& path);

struct ReadingRow {
  std::string id;
  std::string question;
  std::string context;
  std::vector<std::string> answers;  ///< Any of these; empty: the context does not contain the answer.
};

/// A label of a grounding set. kPartly is neither, and excluded from most figures.
enum class Grounding { kSupported, kPartly, kUnsupported };

struct GroundingRow {
  std::string id;
  std::string claim;
  std::string evidence;
  Grounding label = Grounding::kUnsupported;
};

/// A user's own question.
struct LabelledQuestion {
  std::string id;
  std::string text;
  Grades documents;                  ///< Paths of documents that answer it; empty: not labelled.
  std::vector<std::string> answers;  ///< The answer must contain one of these texts; empty: not labelled.
  bool answerable = true;
};

/// Errors name file and line. Rows keep the order of the file; missing ids are generated.
Result<std::vector<ReadingRow>> read_reading_rows(const std::filesystem::path& path);
/// Rows without evidence are omitted.
Result<std::vector<GroundingRow>> read_grounding_rows(const std::filesystem::path& path);
Result<std::vector<LabelledQuestion>> read_questions(const std::filesystem::path& path);
/// The questions of any format above, and of BEIR's queries.jsonl {"_id","text"}: for use as foreign questions.
Result<std::vector<std::string>> read_question_texts(const std::filesystem::path& path);

}  // namespace footnote::eval
