#include "eval/beir.h"

#include <functional>
#include <unordered_map>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "eval/json_lines.h"

namespace footnote::eval {
namespace {

/// Like each_line(); if the file is missing, the error describes the expected folder.
Result<void> each_beir_line(const std::filesystem::path& path, const std::function<Result<void>(std::string_view)>& take,
                            Sha256* hash = nullptr) {
  auto read = each_line(path, take, hash);
  if (read || read.error().code != ErrorCode::kNotFound) return read;
  return fail(ErrorCode::kNotFound, "{}; a BEIR folder contains corpus.jsonl, queries.jsonl and qrels/test.tsv", read.error().message);
}

/// BEIR ids are texts, but some sets write them as numbers.
Result<std::string> id_of(const Json& row) {
  const auto* object = row.if_object();
  const Json* id = object == nullptr ? nullptr : object->if_contains("_id");
  if (id != nullptr && id->is_string()) return std::string(id->get_string());
  if (id != nullptr && id->is_int64()) return fmt::format("{}", id->get_int64());
  return fail_field(ErrorCode::kInvalidArgument, "_id", "expected an object with \"_id\"");
}

Result<BeirDocument> parse_document(std::string_view line) {
  FOOTNOTE_TRY(const Json row, parse_json(line));
  BeirDocument document;
  FOOTNOTE_TRY(document.id, id_of(row));
  FOOTNOTE_TRY(const auto reader, JsonReader::of(row));
  FOOTNOTE_TRY(const auto title, reader.optional_string("title", kJsonLineBytesMax));
  FOOTNOTE_TRY(const auto text, reader.optional_string("text", kJsonLineBytesMax));
  document.title = title.value_or("");
  document.text = text.value_or("");
  return document;
}

Result<BeirQuestion> parse_question(std::string_view line) {
  FOOTNOTE_TRY(const Json row, parse_json(line));
  BeirQuestion question;
  FOOTNOTE_TRY(question.id, id_of(row));
  FOOTNOTE_TRY(const auto reader, JsonReader::of(row));
  FOOTNOTE_TRY(question.text, reader.required_string("text", kJsonLineBytesMax));
  return question;
}

/// "query-id \t corpus-id \t score"; the header line has no number in its third column.
Result<void> take_grade(std::string_view line, std::unordered_map<std::string, Grades>& grades) {
  const auto cells = split(line, '\t');
  if (cells.size() < 3) return fail(ErrorCode::kInvalidArgument, "expected query-id, corpus-id and score between tabs");
  const std::string_view score = trim(cells[2]);
  const auto grade = parse_whole_number<int>(score);
  if (!grade) {
    if (cells[0] == "query-id") return {};
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a score", score);
  }
  grades[std::string(cells[0])][std::string(cells[1])] = *grade;
  return {};
}

bool has_relevant(const Grades& grades) {
  for (const auto& [id, grade] : grades) {
    if (grade > 0) return true;
  }
  return false;
}

}  // namespace

Result<BeirSet> read_beir(const std::filesystem::path& folder) {
  BeirSet set;
  Sha256 hash;
  FOOTNOTE_CHECK(each_beir_line(
      folder / "corpus.jsonl",
      [&](std::string_view line) -> Result<void> {
        if (set.documents.size() == kBeirDocumentsMax) return fail(ErrorCode::kTooLarge, "more than {} documents", kBeirDocumentsMax);
        FOOTNOTE_TRY(auto document, parse_document(line));
        set.documents.push_back(std::move(document));
        return {};
      },
      &hash));
  set.corpus_hash = hash.hex();

  std::unordered_map<std::string, Grades> grades;
  FOOTNOTE_CHECK(each_beir_line(folder / "qrels" / "test.tsv", [&](std::string_view line) { return take_grade(line, grades); }));
  FOOTNOTE_CHECK(each_beir_line(folder / "queries.jsonl", [&](std::string_view line) -> Result<void> {
    FOOTNOTE_TRY(auto question, parse_question(line));
    const auto found = grades.find(question.id);
    if (found == grades.end() || !has_relevant(found->second)) return {};
    question.grades = found->second;
    set.questions.push_back(std::move(question));
    return {};
  }));
  return set;
}

}  // namespace footnote::eval
