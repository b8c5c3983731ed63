#include "ingest/folder_reader.h"

#include "formats/magic.h"

namespace footnote::ingest {

Result<FolderReader> FolderReader::open(const CallContext& call, const std::filesystem::path& path, std::string key_prefix,
                                        const Clock& clock, const WalkOptions& options) {
  FolderReader out;
  out.options_ = options;
  out.listing_.listed_at = clock.now();
  FOOTNOTE_TRY(out.walked_, walk(call, path, options));
  out.location_ = out.walked_.path.string();
  for (const Problem& problem : out.walked_.problems) {
    if (problem.kind != ProblemKind::kIgnored) out.problems_.push_back(problem);
  }
  for (const std::string& folder : out.walked_.unknown) out.listing_.unknown.push_back(key_prefix + folder);
  out.listing_.key_prefix = std::move(key_prefix);
  return out;
}

Result<std::vector<MemoryDocument>> FolderReader::next(const CallContext& call) {
  std::vector<MemoryDocument> batch;
  std::size_t bytes = 0;
  while (at_ < walked_.files.size() && batch.size() < kBatchDocumentsMax && bytes < kBatchBytesMax) {
    FOOTNOTE_CHECK(call.check());
    const std::size_t before = batch.size();
    read(walked_.files[at_++], batch);
    if (batch.size() > before) bytes += batch.back().content.size();
  }
  return batch;
}

void FolderReader::read(const FoundFile& file, std::vector<MemoryDocument>& batch) {
  const std::string key = listing_.key_prefix + file.key;
  if (std::string wrong = key_problem(key); !wrong.empty()) {
    problems_.push_back({file.key, std::move(wrong), ProblemKind::kProblem});
    listing_.present.push_back(key);
    return;
  }
  auto content = read_found(walked_, file, options_.file_bytes_max);
  if (content) {
    // If the user named this file explicitly, report it even if it is no document.
    const bool is_named = walked_.path != walked_.root;
    if (const auto kind = formats::kind_of_no_document(file.key, *content); !kind.empty() && !is_named) {
      ++walked_.no_documents[std::string(kind)];
      return;
    }
    listing_.present.push_back(key);
    batch.push_back({.key = key, .media_type = {}, .content = *std::move(content)});
    return;
  }
  problems_.push_back({key, "can't be read: " + content.error().message, ProblemKind::kProblem});
  // A temporarily unreadable file may be readable next time; one that is no longer a regular file is gone.
  const ErrorCode code = content.error().code;
  const bool gone = code == ErrorCode::kNotFound || code == ErrorCode::kTooLarge || code == ErrorCode::kInvalidArgument;
  if (!gone) listing_.unknown.push_back(key);
}

}  // namespace footnote::ingest
