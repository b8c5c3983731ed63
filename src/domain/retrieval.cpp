#include "domain/retrieval.h"

#include <algorithm>

namespace footnote {

namespace {

template <class T, class U>
bool allows(const std::vector<T>& allowed, const U& value) {
  return allowed.empty() || std::ranges::find(allowed, value) != allowed.end();
}

}  // namespace

bool Filter::empty() const {
  return documents.empty() && keys.empty() && tags.empty() && media_types.empty() && languages.empty() && canonical_types.empty() &&
         statuses.empty();
}

bool matches(const Filter& filter, DocumentId document, const std::string& key, const DocumentAttributes& attributes) {
  const bool tagged = filter.tags.empty() || std::ranges::any_of(attributes.tags, [&](const std::string& tag) {
                        return std::ranges::find(filter.tags, tag) != filter.tags.end();
                      });
  return tagged && allows(filter.documents, document) && allows(filter.keys, key) && allows(filter.media_types, attributes.media_type) &&
         allows(filter.languages, attributes.language) && allows(filter.canonical_types, attributes.canonical_type) &&
         allows(filter.statuses, attributes.status);
}

const StageScore* Hit::term(Stage stage) const {
  const auto found = std::ranges::find(terms, stage, &StageScore::stage);
  return found == terms.end() ? nullptr : &*found;
}

}  // namespace footnote
