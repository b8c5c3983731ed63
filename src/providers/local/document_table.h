#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "domain/document.h"
#include "domain/retrieval.h"
#include "engine/rows/row_table.h"
#include "ports/index.h"

namespace footnote {

/// The properties that filters test. A document whose facets change gets a new slot, as does each of its source types; older rows keep the
/// old slot.
struct DocumentFacets {
  DocumentId document;
  std::string key;
  std::string source_type;
  DocumentAttributes attributes;
  UtcTime indexed_at;

  FilterSubject subject() const { return {document, key, source_type, attributes, indexed_at}; }
};

/// Number of recently used filters whose masks are cached.
inline constexpr std::size_t kMasksKept = 16;

/// One page of facets. A published page is immutable, so its number identifies its contents.
struct FacetsPage {
  std::uint64_t number = 0;
  std::vector<std::shared_ptr<const DocumentFacets>> slots;  // null: empty slot
};
using FacetsPages = std::vector<std::shared_ptr<const FacetsPage>>;

/// Caches the masks of recent filters over the tables of one writer. After a change only the changed pages are evaluated again.
/// Thread-safe.
class MaskCache {
 public:
  std::shared_ptr<const rows::GroupMask> find_or_make(const Filter& filter, const FacetsPages& pages);

 private:
  struct Entry {
    Filter filter;
    std::vector<std::uint64_t> page_numbers;
    std::shared_ptr<const rows::GroupMask> mask;
  };
  std::shared_ptr<const Entry> find(const Filter& filter);
  void keep(std::shared_ptr<const Entry> entry);

  Mutex mutex_;
  std::vector<std::shared_ptr<const Entry>> entries_ FOOTNOTE_TSA(guarded_by(mutex_));  // most recently used last
};

/// Facets by slot, so that a filter is evaluated once per document, not once per row. Immutable, cheap to copy.
class DocumentTable {
 public:
  std::size_t slot_count() const { return slot_count_; }
  /// One byte per slot, nonzero if its document matches the filter. Null if all match.
  std::shared_ptr<const rows::GroupMask> matching(const Filter& filter) const;
  /// Null for an empty slot.
  const DocumentFacets* facets(std::size_t slot) const { return pages_[slot / kPageSlots]->slots[slot % kPageSlots].get(); }

  static constexpr std::size_t kPageSlots = 512;

 private:
  friend class DocumentTableWriter;

  FacetsPages pages_;
  std::size_t slot_count_ = 0;
  bool has_labels_ = false;  // some document has labels
  std::shared_ptr<MaskCache> masks_;
};

/// Builds the next DocumentTable from the last. Pages of a published table are copied before they are written, so a step costs what it
/// changes. Not thread-safe.
class DocumentTableWriter {
 public:
  /// The slot for rows of this document: its current one if the facets are the same, else a new one.
  std::uint32_t slot_for(const IndexRow& row);
  /// Fills the next slot, or leaves it empty: to restore a table slot by slot.
  void append(std::optional<DocumentFacets> facets);
  /// Empties the slots whose byte is 0, for reuse.
  void keep_only(const rows::GroupMask& used);
  std::size_t slot_count() const { return slot_count_; }
  DocumentTable publish();

 private:
  /// Rows of one document may have several source types.
  struct SlotKey {
    DocumentId document;
    std::string source_type;
    bool operator==(const SlotKey&) const = default;
  };
  struct SlotKeyHash {
    std::size_t operator()(const SlotKey& key) const {
      return std::hash<DocumentId>{}(key.document) * 31 + std::hash<std::string>{}(key.source_type);
    }
  };

  std::shared_ptr<const DocumentFacets>& writable(std::size_t slot);
  void put(std::uint32_t slot, std::shared_ptr<const DocumentFacets> facets);
  const DocumentFacets* facets(std::uint32_t slot) const;

  std::vector<std::shared_ptr<FacetsPage>> pages_;
  std::vector<bool> published_;  // by page: a published table holds it
  std::uint64_t pages_made_ = 0;
  std::size_t slot_count_ = 0;
  std::size_t labelled_slots_ = 0;
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<SlotKey, std::uint32_t, SlotKeyHash> slots_;  // the newest slot of each key
  std::shared_ptr<MaskCache> masks_ = std::make_shared<MaskCache>();
};

}  // namespace footnote
