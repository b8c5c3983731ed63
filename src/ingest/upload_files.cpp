#include "ingest/upload_files.h"

#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "ingest/time_to_go.h"
#include "ingest/walk.h"

namespace footnote::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytes = 16;

/// Names are ours: hexadecimal digits. Anything else does not reach the disk.
bool is_upload_name(std::string_view name) {
  return name.size() == 2 * kNameBytes && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

void UploadFiles::tidy() const {
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - kUploadAgeMax;
  for (fs::directory_iterator entry(folder_, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const bool is_left = entry->path().extension() == AtomicFile::kTemporarySuffix || entry->last_write_time(gone) < old;
    if (is_left) fs::remove(entry->path(), gone);
  }
}

Result<AtomicFile> UploadFiles::create(std::string& name) const {
  FOOTNOTE_CHECK(make_folders(folder_));
  name = random_hex(kNameBytes);
  return AtomicFile::create(folder_ / name);
}

Result<std::string> UploadFiles::read(std::string_view name) const {
  if (!is_upload_name(name)) return fail(ErrorCode::kInvalidArgument, "'{}' is no uploaded file", name);
  return read_file(folder_ / name, kFileBytesMax);
}

void UploadFiles::remove(std::string_view name) const {
  std::error_code gone;
  if (is_upload_name(name)) fs::remove(folder_ / name, gone);
}

Result<std::string> upload_key(std::string_view file_name) {
  std::string path(file_name);
  std::ranges::replace(path, '\\', '/');
  // "C:/fakepath/a.pdf" is what old browsers send.
  if (path.size() > 2 && path[1] == ':') path.erase(0, path.rfind('/') + 1);
  std::vector<std::string> names;
  for (const std::string_view name : split(path, '/')) {
    if (name == "..") return fail_field(ErrorCode::kInvalidArgument, "filename", "'{}' leaves its folder", file_name);
    if (!name.empty() && name != ".") names.emplace_back(name);
  }
  std::string key = join(names, "/");
  if (const std::string wrong = key_problem(key); !wrong.empty())
    return fail_field(ErrorCode::kInvalidArgument, "filename", "a file: {}", wrong);
  return key;
}

std::string to_job_input(std::span<const UploadedFile> files) {
  JsonArray out;
  for (const UploadedFile& file : files) {
    out.push_back(JsonObject{{"file", file.file}, {"key", file.key}, {"media_type", file.media_type}, {"bytes", file.bytes}});
  }
  return to_text(JsonObject{{"files", std::move(out)}});
}

Result<std::vector<UploadedFile>> files_of_job_input(std::string_view input) {
  FOOTNOTE_TRY(const Json value, parse_json(input));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(value));
  FOOTNOTE_TRY(const JsonArray* files, reader.required_array("files", kUploadFilesMax));
  std::vector<UploadedFile> out;
  for (const Json& entry : *files) {
    FOOTNOTE_TRY(const JsonReader file, JsonReader::of(entry));
    UploadedFile& made = out.emplace_back();
    FOOTNOTE_TRY(made.file, file.required_string("file", 2 * kNameBytes));
    FOOTNOTE_TRY(made.key, file.required_string("key", kJobInputBytesMax));
    FOOTNOTE_TRY(const auto type, file.optional_string("media_type", kJobInputBytesMax));
    FOOTNOTE_TRY(const auto bytes, file.optional_integer("bytes", 0, std::numeric_limits<std::int64_t>::max()));
    made.media_type = type.value_or("");
    made.bytes = bytes.value_or(0);
  }
  return out;
}

Result<JobProgress> ingest_uploads(const CallContext& call, const Job& job, const UploadFiles& files, Ingestor& ingestor,
                                   CatalogStore& catalog, const IngestOptions& options,
                                   const std::function<Result<void>(const JobProgress&)>& report) {
  FOOTNOTE_TRY(const auto wanted, files_of_job_input(job.input));
  FOOTNOTE_TRY(const Corpus corpus, catalog.corpus(call, job.corpus));
  FOOTNOTE_TRY(const Source source, catalog.ensure_source(call, corpus.id, SourceKind::kUpload, ""));
  JobProgress progress;
  for (const UploadedFile& file : wanted) progress.total += file.bytes;
  TimeToGo time(std::chrono::steady_clock::now());
  for (const UploadedFile& file : wanted) {
    FOOTNOTE_CHECK(report(progress));
    auto content = files.read(file.file);
    if (!content) {
      progress.add_error(file.key, "the uploaded file is gone; send it again");
    } else {
      const MemoryDocument document{.key = file.key, .media_type = file.media_type, .content = *std::move(content)};
      FOOTNOTE_TRY(const IngestReport done, ingestor.ingest_documents(call, corpus, source.id, {&document, 1}, options));
      progress.added += static_cast<std::int64_t>(done.added);
      progress.updated += static_cast<std::int64_t>(done.updated);
      progress.unchanged += static_cast<std::int64_t>(done.unchanged);
      for (const Problem& problem : done.problems) {
        if (problem.kind == ProblemKind::kProblem) progress.add_error(problem.path, problem.reason);
      }
    }
    progress.done += file.bytes;
    const auto left = time.update(progress.done, progress.total, std::chrono::steady_clock::now());
    progress.eta_seconds = left ? std::optional(left->count()) : std::nullopt;
  }
  for (const UploadedFile& file : wanted) files.remove(file.file);
  progress.eta_seconds.reset();
  return progress;
}

}  // namespace footnote::ingest
