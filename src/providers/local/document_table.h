#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "domain/document.h"
#include "domain/retrieval.h"
#include "engine/rows/row_table.h"
#include "ports/index.h"

namespace footnote {

/// What filters look at. A document whose attributes change gets a new slot; its older rows keep the old one.
struct DocumentFacets {
  DocumentId document;
  std::string key;
  DocumentAttributes attributes;
};

/// Facets by slot, so that a filter is evaluated once per document and not once per row. Immutable, cheap to copy.
class DocumentTable {
 public:
  std::size_t slot_count() const { return slot_count_; }
  /// One byte per slot, not 0 where the filter lets its document through.
  ann::GroupMask matching(const Filter& filter) const;
  /// Null for an empty slot.
  const DocumentFacets* facets(std::size_t slot) const { return (*pages_[slot / kPageSlots])[slot % kPageSlots].get(); }

 private:
  friend class DocumentTableWriter;
  static constexpr std::size_t kPageSlots = 512;
  // Facets and pages are shared between all the tables that hold them; an empty slot is null.
  using Page = std::vector<std::shared_ptr<const DocumentFacets>>;

  std::vector<std::shared_ptr<const Page>> pages_;
  std::size_t slot_count_ = 0;
};

/// Makes the next DocumentTable out of the last. Pages that a published table holds are never written: they are
/// copied first, so a step costs what it changes. Not thread-safe.
class DocumentTableWriter {
 public:
  /// The slot for rows of this document: the one it has if its facets are the same, or a new one.
  std::uint32_t slot_for(const IndexRow& row);
  /// Fills the next slot, or leaves it empty: for a table that is read back slot by slot.
  void append(std::optional<DocumentFacets> facets);
  /// Empties the slots whose byte is 0, to be used again.
  void keep_only(const ann::GroupMask& used);
  std::size_t slot_count() const { return slot_count_; }
  DocumentTable publish();

 private:
  using Page = DocumentTable::Page;
  Page& writable_page(std::size_t page);
  const DocumentFacets* facets(std::uint32_t slot) const;

  std::vector<std::shared_ptr<Page>> pages_;
  std::vector<bool> published_;  // By page: a published table holds it.
  std::size_t slot_count_ = 0;
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<DocumentId, std::uint32_t> slots_;  // The newest of each document.
};

}  // namespace footnote
