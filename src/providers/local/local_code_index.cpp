#include "providers/local/local_code_index.h"

namespace footnote {
namespace {

/// Passages per read from the store while a file is written: a few megabytes of codes.
constexpr std::size_t kCopyRows = 512;

}  // namespace

LocalCodeIndex::State LocalCodeIndex::state(CorpusId corpus) const {
  const MutexLock lock(mutex_);
  const auto found = states_.find(corpus);
  return found == states_.end() ? State{} : found->second;
}

std::shared_ptr<const CodeFile> LocalCodeIndex::codes(CorpusId corpus) const { return state(corpus).codes; }

IndexExtent LocalCodeIndex::extent(CorpusId corpus) const {
  const State now = state(corpus);
  return {.generation = now.generation, .rows = now.codes->count(), .changed_rows = 0};
}

Result<void> LocalCodeIndex::copy(const CallContext& call, CorpusId corpus, Generation generation, const CodeFile& last,
                                  CodeFileWriter& writer) const {
  FOOTNOTE_TRY(const auto chunks, store_.chunk_ids(call, corpus, 0, generation));
  for (std::span<const ChunkId> rest(chunks); !rest.empty();) {
    FOOTNOTE_CHECK(call.check());
    const auto page = rest.first(std::min(kCopyRows, rest.size()));
    rest = rest.subspan(page.size());
    std::vector<std::optional<CodesView>> known;
    std::vector<ChunkId> missing;
    for (const ChunkId chunk : page) {
      known.push_back(last.find(chunk));
      if (!known.back()) missing.push_back(chunk);
    }
    FOOTNOTE_TRY(const auto read, missing.empty() ? std::vector<PassageCodes>{} : store_.passage_codes(call, corpus, missing));
    for (std::size_t i = 0, next = 0; i < page.size(); ++i) {
      const CodesView codes = known[i] ? *known[i] : view_of(read[next++]);
      const std::uint64_t bytes = CodeFileWriter::record_bytes(codes);
      if (writer.bytes() + bytes > bytes_max_) return {};
      if (bytes <= kCodeRecordBytesMax) FOOTNOTE_CHECK(writer.add(page[i], codes));
    }
  }
  return {};
}

Result<void> LocalCodeIndex::save(const CallContext& call, const std::filesystem::path& path, const IndexHead& head) const {
  std::uint64_t drops = 0;
  {
    const MutexLock lock(mutex_);
    drops = drops_;
  }
  const State last = state(head.corpus);
  FOOTNOTE_TRY(IndexFileWriter file, IndexFileWriter::create(path, head));
  std::uint64_t bytes = 0;
  FOOTNOTE_TRY(RawBytes raw, file.raw([&](ByteSink& sink) -> Result<void> {
    CodeFileWriter writer(sink);
    FOOTNOTE_CHECK(copy(call, head.corpus, head.generation, *last.codes, writer));
    FOOTNOTE_CHECK(writer.finish());
    bytes = writer.file_bytes();
    return {};
  }));
  FOOTNOTE_TRY(auto codes, CodeFile::open(std::move(raw), bytes));
  {
    const MutexLock lock(mutex_);
    if (drops != drops_) return fail(ErrorCode::kCancelled, "the index was dropped while it was written");
  }
  FOOTNOTE_CHECK(file.commit());
  const MutexLock lock(mutex_);
  if (drops == drops_) states_[head.corpus] = {head.generation, std::move(codes)};
  return {};
}

Result<void> LocalCodeIndex::load(IndexFileReader& file) {
  const std::uint64_t bytes = file.raw_bytes();
  FOOTNOTE_TRY(RawBytes raw, file.raw(bytes));
  FOOTNOTE_TRY(auto codes, CodeFile::open(std::move(raw), bytes));
  const MutexLock lock(mutex_);
  states_[file.head().corpus] = {file.head().generation, std::move(codes)};
  return {};
}

Result<void> LocalCodeIndex::drop(const CallContext& call, CorpusId corpus) {
  FOOTNOTE_CHECK(call.check());
  const MutexLock lock(mutex_);
  ++drops_;
  states_.erase(corpus);
  return {};
}

}  // namespace footnote
