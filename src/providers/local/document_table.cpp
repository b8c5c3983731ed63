#include "providers/local/document_table.h"

#include <algorithm>

namespace footnote {
namespace {

/// Facets are scattered in memory, so prefetch this many slots ahead.
constexpr std::size_t kSlotsAhead = 12;
constexpr std::size_t kLineBytes = 64;

void fetch_ahead(const DocumentFacets* facets) {
  const auto* const bytes = reinterpret_cast<const char*>(facets);
  for (std::size_t at = 0; at < sizeof(DocumentFacets); at += kLineBytes) __builtin_prefetch(bytes + at);
}

void add_page(const DocumentFilter& passes, const FacetsPage& page, rows::GroupMask& mask) {
  for (std::size_t slot = 0; slot < page.slots.size(); ++slot) {
    if (slot + kSlotsAhead < page.slots.size()) fetch_ahead(page.slots[slot + kSlotsAhead].get());
    const DocumentFacets* const facets = page.slots[slot].get();
    mask.push_back(facets != nullptr && passes(facets->subject()));
  }
}

}  // namespace

std::shared_ptr<const MaskCache::Entry> MaskCache::find(const Filter& filter) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return same_documents(entry->filter, filter); });
  if (found == entries_.end()) return nullptr;
  std::rotate(found, found + 1, entries_.end());
  return entries_.back();
}

void MaskCache::keep(std::shared_ptr<const Entry> entry) {
  const MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const auto& old) { return same_documents(old->filter, entry->filter); });
  if (entries_.size() == kMasksKept) entries_.erase(entries_.begin());
  entries_.push_back(std::move(entry));
}

std::shared_ptr<const rows::GroupMask> MaskCache::find_or_make(const Filter& filter, const FacetsPages& pages) {
  constexpr std::size_t kPageSlots = DocumentTable::kPageSlots;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(pages.size());
  for (const auto& page : pages) numbers.push_back(page->number);
  const auto known = find(filter);
  if (known && known->page_numbers == numbers) return known->mask;

  const DocumentFilter passes(filter);
  auto mask = std::make_shared<rows::GroupMask>();
  mask->reserve(pages.size() * kPageSlots);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (known && i < known->page_numbers.size() && known->page_numbers[i] == numbers[i]) {
      const auto first = known->mask->begin() + static_cast<std::ptrdiff_t>(i * kPageSlots);
      mask->insert(mask->end(), first, first + static_cast<std::ptrdiff_t>(pages[i]->slots.size()));
      continue;
    }
    add_page(passes, *pages[i], *mask);
  }
  auto entry = std::make_shared<Entry>(filter, std::move(numbers), mask);
  entry->filter.chunks = nullptr;  // may be large, and does not affect documents
  keep(std::move(entry));
  return mask;
}

std::shared_ptr<const rows::GroupMask> DocumentTable::matching(const Filter& filter) const {
  if (!filter.narrows_documents() && !has_labels_) return nullptr;
  if (masks_ == nullptr) return std::make_shared<const rows::GroupMask>();
  return masks_->find_or_make(filter, pages_);
}

std::shared_ptr<const DocumentFacets>& DocumentTableWriter::writable(std::size_t slot) {
  const std::size_t page = slot / DocumentTable::kPageSlots;
  if (page == pages_.size()) {
    pages_.push_back(std::make_shared<FacetsPage>());
    pages_[page]->number = ++pages_made_;
    published_.push_back(false);
  } else if (published_[page]) {
    pages_[page] = std::make_shared<FacetsPage>(*pages_[page]);
    pages_[page]->number = ++pages_made_;
    published_[page] = false;
  }
  auto& slots = pages_[page]->slots;
  const std::size_t at = slot % DocumentTable::kPageSlots;
  if (at == slots.size()) slots.emplace_back();
  return slots[at];
}

const DocumentFacets* DocumentTableWriter::facets(std::uint32_t slot) const {
  return pages_[slot / DocumentTable::kPageSlots]->slots[slot % DocumentTable::kPageSlots].get();
}

void DocumentTableWriter::put(std::uint32_t slot, std::shared_ptr<const DocumentFacets> facets) {
  auto& place = writable(slot);
  const auto is_labelled = [](const auto& of) { return of != nullptr && !of->attributes.acl_labels.empty(); };
  if (is_labelled(place)) --labelled_slots_;
  if (is_labelled(facets)) ++labelled_slots_;
  if (facets != nullptr) slots_[{facets->document, facets->source_type}] = slot;
  place = std::move(facets);
}

std::uint32_t DocumentTableWriter::slot_for(const IndexRow& row) {
  if (const auto known = slots_.find({row.document, row.source_type}); known != slots_.end()) {
    const DocumentFacets* old = facets(known->second);
    if (old->key == row.document_key && old->indexed_at == row.indexed_at && old->attributes == row.attributes) return known->second;
  }
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slot_count_++);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  put(slot, std::make_shared<const DocumentFacets>(row.document, row.document_key, row.source_type, row.attributes, row.indexed_at));
  return slot;
}

void DocumentTableWriter::append(std::optional<DocumentFacets> facets) {
  const auto slot = static_cast<std::uint32_t>(slot_count_++);
  if (!facets) free_slots_.push_back(slot);
  put(slot, facets ? std::make_shared<const DocumentFacets>(*std::move(facets)) : nullptr);
}

void DocumentTableWriter::keep_only(const rows::GroupMask& used) {
  for (std::uint32_t slot = 0; slot < slot_count_; ++slot) {
    const DocumentFacets* old = facets(slot);
    if (old == nullptr || used[slot]) continue;
    if (const auto newest = slots_.find({old->document, old->source_type}); newest != slots_.end() && newest->second == slot) {
      slots_.erase(newest);
    }
    put(slot, nullptr);
    free_slots_.push_back(slot);
  }
}

DocumentTable DocumentTableWriter::publish() {
  DocumentTable table;
  table.pages_.assign(pages_.begin(), pages_.end());
  table.slot_count_ = slot_count_;
  table.has_labels_ = labelled_slots_ > 0;
  table.masks_ = masks_;
  published_.assign(pages_.size(), true);
  return table;
}

}  // namespace footnote
