#pragma once

#include <string_view>

#include "base/result.h"

namespace footnote::chunk {

/// The formats that a document can have here.
enum class Format { kMarkdown, kHtml, kPlainText, kCsv };

/// "text/markdown", "text/html", "text/plain", "text/csv".
std::string_view media_type(Format format);

/// What a media type ("text/html; charset=utf-8") stands for; kUnsupported for one that is not read.
Result<Format> format_of_media_type(std::string_view media_type);

/// What a file is, by its name's extension and a look at its content. A file without extension is read when it is
/// text. kUnsupported with the reason for people otherwise: "binary file", "unknown file type .xyz".
Result<Format> detect(std::string_view file_name, std::string_view content);

/// kUnsupported when the bytes can't be text: known magic numbers, NUL bytes, UTF-16.
Result<void> check_is_text(std::string_view content);

}  // namespace footnote::chunk
