#pragma once

#include <optional>
#include <string_view>

#include "formats/format.h"

namespace footnote::formats {

/// What the first bytes of a file identify: a format, or a kind of file that is no document. If neither is set, it is text or unknown.
struct Magic {
  std::optional<Format> format;
  std::string_view reason;  ///< Shown to people: "an image", "a Windows program".
  std::string_view kind;    ///< Plural, for counting such files: "images", "programs".
};

Magic magic_of(std::string_view content);

/// The kind of a file that is no document, by its name: "images", "style sheets", "fonts", "archives" ...; empty for others.
std::string_view kind_of_no_document(std::string_view file_name);

/// The kind of a file that is no document, by its bytes. Call it only for files whose name is not that of a document.
std::string_view kind_of_no_document(std::string_view file_name, std::string_view content);

/// True for scripts. Next to web pages they belong to those pages; elsewhere they are source code.
bool is_page_script(std::string_view file_name);

}  // namespace footnote::formats
