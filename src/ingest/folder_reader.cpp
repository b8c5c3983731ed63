#include "ingest/folder_reader.h"

namespace footnote::ingest {

Result<FolderReader> FolderReader::open(const CallContext& call, const std::filesystem::path& path, std::string key_prefix,
                                        const Clock& clock, const WalkOptions& options, const FileStamps& known) {
  FolderReader out;
  out.folder_ = std::make_unique<FolderItems>(path, key_prefix, clock, options);
  FOOTNOTE_TRY(out.items_, out.folder_->list(call));
  out.location_ = out.folder_->walked_path().string();
  out.listing_.listed_at = out.items_.listed_at;
  out.listing_.unknown = out.items_.unknown;
  out.listing_.key_prefix = std::move(key_prefix);
  std::erase_if(out.items_.items, [&](const SourceItem& item) {
    const auto found = known.find(item.key);
    if (found == known.end() || found->second != item.stamp || item.fresh) return false;
    out.listing_.present.push_back(item.key);
    out.stamps_.insert(*found);
    return true;
  });
  for (const SourceItem& item : out.items_.items) out.bytes_ += item.bytes;
  return out;
}

Result<std::vector<MemoryDocument>> FolderReader::next(const CallContext& call) {
  std::vector<MemoryDocument> batch;
  std::size_t bytes = 0;
  while (at_ < items_.items.size() && batch.size() < kBatchDocumentsMax && bytes < kBatchBytesMax) {
    const std::size_t before = batch.size();
    const SourceItem& item = items_.items[at_++];
    FOOTNOTE_CHECK(read(call, item, batch));
    bytes_read_ += item.bytes;
    if (batch.size() > before) bytes += batch.back().content.size();
  }
  return batch;
}

Result<void> FolderReader::read(const CallContext& call, const SourceItem& item, std::vector<MemoryDocument>& batch) {
  FOOTNOTE_TRY(ItemRead read, folder_->read(call, item));
  switch (read.state) {
    case ItemRead::State::kDocument:
      listing_.present.push_back(item.key);
      if (!item.fresh) stamps_[item.key] = item.stamp;
      batch.push_back(std::move(read.document));
      break;
    case ItemRead::State::kUnchanged: listing_.present.push_back(item.key); break;
    case ItemRead::State::kNoDocument: ++items_.no_documents[read.reason]; break;
    case ItemRead::State::kGone: items_.problems.push_back({item.key, std::move(read.reason), ProblemKind::kProblem}); break;
    case ItemRead::State::kFailed:
      items_.problems.push_back({item.key, std::move(read.reason), ProblemKind::kProblem});
      listing_.unknown.push_back(item.key);
      break;
  }
  return {};
}

}  // namespace footnote::ingest
