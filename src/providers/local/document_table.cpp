#include "providers/local/document_table.h"

namespace footnote {

ann::GroupMask DocumentTable::matching(const Filter& filter) const {
  ann::GroupMask mask(slot_count_, 0);
  for (std::size_t slot = 0; slot < slot_count_; ++slot) {
    const DocumentFacets* found = facets(slot);
    if (found != nullptr) mask[slot] = matches(filter, found->document, found->key, found->attributes);
  }
  return mask;
}

DocumentTableWriter::Page& DocumentTableWriter::writable_page(std::size_t page) {
  if (page == pages_.size()) {
    pages_.push_back(std::make_shared<Page>());
    published_.push_back(false);
  } else if (published_[page]) {
    pages_[page] = std::make_shared<Page>(*pages_[page]);
    published_[page] = false;
  }
  return *pages_[page];
}

const DocumentFacets* DocumentTableWriter::facets(std::uint32_t slot) const {
  return (*pages_[slot / DocumentTable::kPageSlots])[slot % DocumentTable::kPageSlots].get();
}

std::uint32_t DocumentTableWriter::slot_for(const IndexRow& row) {
  if (const auto known = slots_.find(row.document); known != slots_.end()) {
    const DocumentFacets* old = facets(known->second);
    if (old->key == row.document_key && old->attributes == row.attributes) return known->second;
  }
  auto made = std::make_shared<const DocumentFacets>(DocumentFacets{row.document, row.document_key, row.attributes});
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slot_count_++);
    writable_page(slot / DocumentTable::kPageSlots).push_back(std::move(made));
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    writable_page(slot / DocumentTable::kPageSlots)[slot % DocumentTable::kPageSlots] = std::move(made);
  }
  slots_[row.document] = slot;
  return slot;
}

void DocumentTableWriter::append(std::optional<DocumentFacets> facets) {
  const auto slot = static_cast<std::uint32_t>(slot_count_++);
  auto& place = writable_page(slot / DocumentTable::kPageSlots).emplace_back();
  if (facets) {
    slots_[facets->document] = slot;
    place = std::make_shared<const DocumentFacets>(*std::move(facets));
  } else {
    free_slots_.push_back(slot);
  }
}

void DocumentTableWriter::keep_only(const ann::GroupMask& used) {
  for (std::uint32_t slot = 0; slot < slot_count_; ++slot) {
    const DocumentFacets* old = facets(slot);
    if (old == nullptr || used[slot]) continue;
    if (const auto newest = slots_.find(old->document); newest != slots_.end() && newest->second == slot) slots_.erase(newest);
    writable_page(slot / DocumentTable::kPageSlots)[slot % DocumentTable::kPageSlots].reset();
    free_slots_.push_back(slot);
  }
}

DocumentTable DocumentTableWriter::publish() {
  DocumentTable table;
  table.pages_.assign(pages_.begin(), pages_.end());
  table.slot_count_ = slot_count_;
  published_.assign(pages_.size(), true);
  return table;
}

}  // namespace footnote
