#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "domain/retrieval.h"
#include "engine/rows/row_table.h"
#include "providers/local/document_table.h"

namespace footnote {

/// Translates a Filter for the engines: by document, by chunk, or both. Must outlive uses of its RowFilter.
class FilteredRows {
 public:
  /// `filter` may be null: no filter.
  FilteredRows(const DocumentTable& documents, const Filter* filter) {
    static const Filter kEmpty;
    mask_ = documents.matching(filter == nullptr ? kEmpty : *filter);
    rows_.groups = mask_.get();
    if (filter == nullptr) return;
    if (filter->chunks) {
      labels_.reserve(filter->chunks->size());
      for (const ChunkId chunk : *filter->chunks) labels_.push_back(chunk.value);
      rows_.labels = labels_;
    }
  }
  FilteredRows(const FilteredRows&) = delete;
  FilteredRows& operator=(const FilteredRows&) = delete;

  const rows::RowFilter& rows() const { return rows_; }

 private:
  std::shared_ptr<const rows::GroupMask> mask_;
  std::vector<std::int64_t> labels_;
  rows::RowFilter rows_;
};

}  // namespace footnote
