#pragma once

#include <optional>
#include <string_view>

#include "formats/format.h"

namespace footnote::formats {

/// What the first bytes of a file say it is: a format, or a kind of file that is no document. Neither: text, or unknown.
struct Magic {
  std::optional<Format> format;
  std::string_view reason;  ///< For people: "an image", "a Windows program".
  std::string_view kind;    ///< For a count of such files: "images", "programs".
};

Magic magic_of(std::string_view content);

/// The kind of a file that is no document, by its name: "images", "style sheets", "fonts", "archives" ...; empty for others.
std::string_view kind_of_no_document(std::string_view file_name);

/// The kind of a file that is no document, by its bytes: only files whose name is not that of a document.
std::string_view kind_of_no_document(std::string_view file_name, std::string_view content);

/// Scripts that belong to web pages where they are next to some; elsewhere they are source code.
bool is_page_script(std::string_view file_name);

}  // namespace footnote::formats
