#include "eval/set.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.h"
#include "base/json_view.h"
#include "base/text.h"
#include "eval/documentation_set.h"
#include "eval/json_lines.h"

namespace footnote::eval {
namespace {

constexpr std::size_t kListMax = 10'000;

std::unexpected<Error> unknown_form(const std::filesystem::path& path) {
  return fail(
      ErrorCode::kInvalidArgument,
      "{}: not a set that can be measured: expected a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv, or a JSONL file of "
      "\"question\" and \"context\", of \"claim\" and \"evidence\", of \"question\" and \"documents\", or of "
      "\"question\", \"answer\" and \"pages\"",
      path.string());
}

EvalKind kind_of_question(const Json& row) {
  if (!value_at(row, "context").is_null()) return EvalKind::kReading;
  const bool by_expression = std::ranges::any_of(std::array{"answer", "unanswerable", "expect"},
                                                 [&](std::string_view key) { return !value_at(row, key).is_null(); });
  return by_expression ? EvalKind::kDocumentation : EvalKind::kQuestions;
}

/// Ids are texts, numbers, or missing.
std::string id_of(const Json& row, std::size_t place) {
  for (const std::string_view key : {"id", "_id", "claim_id"}) {
    const Json& id = value_at(row, key);
    if (id.is_string()) return std::string(id.get_string());
    if (id.is_int64()) return fmt::format("{}", id.get_int64());
  }
  return fmt::format("{}", place);
}

/// Texts, alone or as {"text": ...}: SQuAD has the latter.
std::vector<std::string> texts_of(const Json& row, std::string_view key) {
  std::vector<std::string> out;
  for (const Json& value : array_at(row, key)) {
    const std::string_view text = value.is_string() ? std::string_view(value.get_string()) : text_at(value, "text");
    if (!text.empty() && std::ranges::find(out, text) == out.end()) out.emplace_back(text);
  }
  return out;
}

Result<Grounding> label_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Grounding>, 10> kLabels = {{{"supported", Grounding::kSupported},
                                                                               {"supports", Grounding::kSupported},
                                                                               {"support", Grounding::kSupported},
                                                                               {"partially_supported", Grounding::kPartly},
                                                                               {"not_supported", Grounding::kUnsupported},
                                                                               {"unsupported", Grounding::kUnsupported},
                                                                               {"refutes", Grounding::kUnsupported},
                                                                               {"contradict", Grounding::kUnsupported},
                                                                               {"contradicted", Grounding::kUnsupported},
                                                                               {"not_enough_info", Grounding::kUnsupported}}};
  const std::string lower = to_lower_ascii(text);
  const auto found = std::ranges::find(kLabels, lower, &std::pair<std::string_view, Grounding>::first);
  if (found != kLabels.end()) return found->second;
  return fail_field(ErrorCode::kInvalidArgument, "label", "'{}' is not a label; expected supported, partially_supported or not_supported",
                    text);
}

Result<Grades> documents_of(const Json& row, const JsonReader& reader) {
  Grades out;
  if (const JsonObject* graded = value_at(row, "documents").if_object()) {
    for (const auto& [path, grade] : *graded) {
      if (!grade.is_int64())
        return fail_field(ErrorCode::kInvalidArgument, "documents", "the grade of '{}' is not an integer", std::string_view(path));
      out[std::string(path)] = static_cast<int>(std::clamp<std::int64_t>(grade.get_int64(), 0, 1000));
    }
    return out;
  }
  FOOTNOTE_TRY(const auto paths, reader.optional_strings("documents", kListMax, kJsonLineBytesMax));
  for (const std::string& path : paths.value_or(std::vector<std::string>{})) out[path] = 1;
  return out;
}

/// An error if the file has no rows.
template <class Row>
Result<std::vector<Row>> not_empty(const std::filesystem::path& path, std::vector<Row> rows) {
  if (rows.empty()) return fail(ErrorCode::kInvalidArgument, "{}: no row to measure", path.string());
  return rows;
}

}  // namespace

std::string_view to_string(EvalKind kind) {
  switch (kind) {
    case EvalKind::kRetrieval: return "retrieval";
    case EvalKind::kReading: return "reading";
    case EvalKind::kGrounding: return "grounding";
    case EvalKind::kQuestions: return "questions";
    case EvalKind::kDocumentation: return "documentation";
  }
  return "retrieval";
}

Result<EvalKind> kind_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(ErrorCode::kNotFound, "{}: no such folder or file; a folder must contain corpus.jsonl", path.string());
  if (std::filesystem::is_directory(path, error)) {
    return is_documentation_folder(path) ? EvalKind::kDocumentation : EvalKind::kRetrieval;
  }
  std::optional<EvalKind> kind;
  bool first = true;
  FOOTNOTE_CHECK(each_row(path, [&](const Json& row, const JsonReader&, std::size_t) -> Result<void> {
    if (!std::exchange(first, false)) return {};
    if (!value_at(row, "claim").is_null()) kind = EvalKind::kGrounding;
    if (!value_at(row, "question").is_null()) kind = kind_of_question(row);
    return {};
  }));
  if (!kind) return unknown_form(path);
  return *kind;
}

Result<std::vector<ReadingRow>> read_reading_rows(const std::filesystem::path& path) {
  std::vector<ReadingRow> out;
  FOOTNOTE_CHECK(each_row(path, [&](const Json& row, const JsonReader& reader, std::size_t place) -> Result<void> {
    ReadingRow read{.id = id_of(row, place), .question = {}, .context = {}, .answers = texts_of(row, "answers")};
    FOOTNOTE_TRY(read.question, reader.required_string("question", kJsonLineBytesMax));
    FOOTNOTE_TRY(read.context, reader.required_string("context", kJsonLineBytesMax));
    out.push_back(std::move(read));
    return {};
  }));
  return not_empty(path, std::move(out));
}

Result<std::vector<GroundingRow>> read_grounding_rows(const std::filesystem::path& path) {
  std::vector<GroundingRow> out;
  FOOTNOTE_CHECK(each_row(path, [&](const Json& row, const JsonReader& reader, std::size_t place) -> Result<void> {
    // A claim may occur with several pieces of evidence: only the row number distinguishes them.
    GroundingRow read{.id = fmt::format("{}:{}", place, id_of(row, place)), .claim = {}, .evidence = {}};
    FOOTNOTE_TRY(read.claim, reader.required_string("claim", kJsonLineBytesMax));
    FOOTNOTE_TRY(const std::string label, reader.required_string("label", 100));
    FOOTNOTE_TRY(read.label, label_of(label));
    read.evidence =
        value_at(row, "evidence").is_string() ? std::string(text_at(row, "evidence")) : join(texts_of(row, "evidence_sentences"), "\n\n");
    if (!trim(read.evidence).empty()) out.push_back(std::move(read));
    return {};
  }));
  return not_empty(path, std::move(out));
}

Result<std::vector<LabelledQuestion>> read_questions(const std::filesystem::path& path) {
  std::vector<LabelledQuestion> out;
  FOOTNOTE_CHECK(each_row(path, [&](const Json& row, const JsonReader& reader, std::size_t place) -> Result<void> {
    LabelledQuestion read{.id = id_of(row, place), .text = {}, .documents = {}, .answers = texts_of(row, "answers")};
    FOOTNOTE_TRY(read.text, reader.required_string("question", kJsonLineBytesMax));
    FOOTNOTE_TRY(read.documents, documents_of(row, reader));
    FOOTNOTE_TRY(const auto answerable, reader.optional_bool("answerable"));
    read.answerable = answerable.value_or(true);
    out.push_back(std::move(read));
    return {};
  }));
  return not_empty(path, std::move(out));
}

Result<std::vector<std::string>> read_question_texts(const std::filesystem::path& path) {
  const std::filesystem::path file = std::filesystem::is_directory(path) ? path / "queries.jsonl" : path;
  std::vector<std::string> out;
  FOOTNOTE_CHECK(each_row(file, [&](const Json& row, const JsonReader& reader, std::size_t) -> Result<void> {
    const std::string_view key = value_at(row, "question").is_null() ? "text" : "question";
    FOOTNOTE_TRY(auto text, reader.required_string(key, kJsonLineBytesMax));
    out.push_back(std::move(text));
    return {};
  }));
  return not_empty(file, std::move(out));
}

}  // namespace footnote::eval
