#include "eval/documentation_set.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "eval/json_lines.h"

namespace footnote::eval {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortTextMax = 200;
constexpr std::size_t kQuestionTextMax = 10'000;
constexpr std::size_t kPathTextMax = 4096;
/// The kind of the handbook's covered questions, whose lines name none.
constexpr std::string_view kCovered = "covered";

Result<Half> half_of(const JsonReader& reader) {
  FOOTNOTE_TRY(const auto name, reader.optional_string("half", kShortTextMax));
  if (!name) return Half::kNone;
  if (const auto half = parse_half(*name)) return *half;
  return fail_field(ErrorCode::kInvalidArgument, "half", "half '{}' is neither tune nor keep", *name);
}

Result<Expression> expression_at(const JsonReader& reader, std::string_view key) {
  FOOTNOTE_TRY(const std::string source, reader.required_string(key, kExpressionBytesMax));
  return Expression::parse(source);
}

/// Reads the fields about the expected answer.
Result<void> read_answer(const JsonReader& reader, DocumentationQuestion& question) {
  FOOTNOTE_CHECK(reader.only({"id", "question", "kind", "answer", "part", "pages", "half"}));
  FOOTNOTE_TRY(question.answer, expression_at(reader, "answer"));
  if (reader.has("part")) {
    FOOTNOTE_TRY(question.part, expression_at(reader, "part"));
  }
  FOOTNOTE_TRY(auto pages, reader.optional_strings("pages", kPagesMax, kPathTextMax));
  question.pages = std::move(pages).value_or(std::vector<std::string>{});
  if (question.pages.empty()) return fail_field(ErrorCode::kInvalidArgument, "pages", "pages: no page is named");
  return {};
}

Result<DocumentationQuestion> read_own_form(const JsonReader& reader) {
  DocumentationQuestion out;
  FOOTNOTE_TRY(out.kind, reader.required_string("kind", kShortTextMax));
  FOOTNOTE_TRY(out.half, half_of(reader));
  FOOTNOTE_TRY(const auto unanswerable, reader.optional_bool("unanswerable"));
  if (unanswerable.value_or(false)) {
    FOOTNOTE_CHECK(reader.only({"id", "question", "kind", "unanswerable", "why", "half"}));
  } else {
    FOOTNOTE_CHECK(read_answer(reader, out));
  }
  return out;
}

Result<DocumentationQuestion> read_handbook_form(const JsonReader& reader) {
  DocumentationQuestion out;
  FOOTNOTE_TRY(const std::string expect, reader.required_string("expect", kShortTextMax));
  if (expect == "refuse") {
    FOOTNOTE_TRY(out.kind, reader.required_string("kind", kShortTextMax));
    return out;
  }
  if (expect != "answer") return fail_field(ErrorCode::kInvalidArgument, "expect", "expect '{}' is neither answer nor refuse", expect);
  out.kind = kCovered;
  FOOTNOTE_TRY(const std::string quote, reader.required_string("quote", kExpressionBytesMax));
  FOOTNOTE_TRY(out.answer, Expression::of_words(quote));
  FOOTNOTE_TRY(const std::string path, reader.required_string("path", kPathTextMax));
  out.pages.push_back(path);
  return out;
}

/// `ids` collects the ids of all files: saved runs identify rows by them, so they must be unique.
Result<std::vector<DocumentationQuestion>> read_file_of_questions(const fs::path& path, std::set<std::string>& ids) {
  std::vector<DocumentationQuestion> out;
  FOOTNOTE_CHECK(each_row(path, [&](const Json&, const JsonReader& reader, std::size_t place) -> Result<void> {
    if (place > kDocumentationQuestionsMax)
      return fail(ErrorCode::kTooLarge, "more than {} questions in a file", kDocumentationQuestionsMax);
    FOOTNOTE_TRY(DocumentationQuestion question, reader.has("expect") ? read_handbook_form(reader) : read_own_form(reader));
    FOOTNOTE_TRY(question.id, reader.required_string("id", kShortTextMax));
    FOOTNOTE_TRY(question.text, reader.required_string("question", kQuestionTextMax));
    if (!ids.insert(question.id).second) return fail_field(ErrorCode::kInvalidArgument, "id", "id '{}' is used twice", question.id);
    out.push_back(std::move(question));
    return {};
  }));
  return out;
}

struct NamedFile {
  std::string name;
  fs::path path;
  fs::path documents;
};

/// A file called questions.jsonl is named by its folder.
NamedFile single_file(const fs::path& path, const fs::path& documents) {
  const fs::path named = path.stem() == "questions" && path.has_parent_path() ? path.parent_path().filename() : path.stem();
  return {named.string(), path, documents};
}

Result<std::vector<NamedFile>> files_of(const fs::path& path, const DocumentationChoice& choice) {
  std::vector<NamedFile> all;
  std::error_code error;
  if (fs::is_regular_file(path, error)) all.push_back(single_file(path, choice.documents));
  if (fs::is_directory(path, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path / "questions", error)) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() == ".jsonl") all.push_back({name, entry.path(), choice.documents / name});
    }
    std::ranges::sort(all, {}, &NamedFile::name);
  }
  for (const std::string& name : choice.names) {
    if (std::ranges::find(all, name, &NamedFile::name) != all.end()) continue;
    std::vector<std::string> known;
    for (const NamedFile& file : all) known.push_back(file.name);
    return fail(ErrorCode::kInvalidArgument, "{}: no set '{}'; there are {}", path.string(), name, join(known, ", "));
  }
  std::erase_if(all, [&](const NamedFile& file) {
    return !choice.names.empty() && std::ranges::find(choice.names, file.name) == choice.names.end();
  });
  return all;
}

}  // namespace

std::string_view to_string(Half half) {
  switch (half) {
    case Half::kNone: return "";
    case Half::kTune: return "tune";
    case Half::kKeep: return "keep";
  }
  return "";
}

std::optional<Half> parse_half(std::string_view name) {
  for (const Half half : {Half::kTune, Half::kKeep}) {
    if (to_string(half) == name) return half;
  }
  return std::nullopt;
}

bool is_documentation_folder(const fs::path& path) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path / "questions", error)) {
    if (entry.path().extension() == ".jsonl") return true;
  }
  return false;
}

Result<std::vector<DocumentationSet>> read_documentation(const fs::path& path, const DocumentationChoice& choice) {
  FOOTNOTE_TRY(const std::vector<NamedFile> files, files_of(path, choice));
  std::vector<DocumentationSet> out;
  std::set<std::string> ids;
  std::size_t left = choice.limit == 0 ? std::numeric_limits<std::size_t>::max() : choice.limit;
  for (const NamedFile& file : files) {
    FOOTNOTE_TRY(auto questions, read_file_of_questions(file.path, ids));
    if (choice.half) std::erase_if(questions, [&](const DocumentationQuestion& question) { return question.half != *choice.half; });
    if (questions.size() > left) questions.erase(questions.begin() + static_cast<std::ptrdiff_t>(left), questions.end());
    left -= questions.size();
    if (!questions.empty()) out.push_back({file.name, file.documents, std::move(questions)});
  }
  if (out.empty()) return fail(ErrorCode::kInvalidArgument, "{}: no question to ask", path.string());
  return out;
}

}  // namespace footnote::eval
