#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "domain/document.h"
#include "providers/sqlite/enum_names.h"

namespace footnote {

/// Reads an object that we stored. Missing members get their defaults, so that older rows stay readable; a wrong shape sets `damaged`,
/// which the caller checks once for the whole text.
class StoredObject {
 public:
  /// Borrows both.
  StoredObject(const Json& value, bool& damaged);

  std::string text(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t missing = 0) const;
  double number(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  StoredObject object(std::string_view key) const;
  const JsonArray& array(std::string_view key) const;
  StoredObject element(const Json& value) const { return {value, *damaged_}; }

  template <class Enum>
  Enum name(std::string_view key, Enum missing) const {
    if (!has(key)) return missing;
    const auto value = from_stored_name<Enum>(text(key));
    if (!value) *damaged_ = true;
    return value.value_or(missing);
  }

 private:
  const Json* find(std::string_view key) const;

  const JsonObject* object_;
  bool* damaged_;
};

/// Repairs malformed UTF-8 when storing: what can't be read back must not be stored.
Json stored_text(std::string_view text);
JsonArray to_stored_array(const std::vector<std::string>& texts);

/// Attributes as JSON without default values, so that equal attributes give equal texts.
JsonObject to_stored_object(const DocumentAttributes& attributes);
DocumentAttributes attributes_from(const StoredObject& object);

std::string to_stored_text(const DocumentAttributes& attributes);
/// kCorrupted if the text was not made by to_stored_text().
Result<DocumentAttributes> attributes_from_stored_text(std::string_view text);

std::string to_stored_text(const std::vector<std::string>& texts);
Result<std::vector<std::string>> texts_from_stored_text(std::string_view text);

/// The error for a stored text that cannot be parsed.
std::unexpected<Error> damaged_text(std::string_view what);

}  // namespace footnote
