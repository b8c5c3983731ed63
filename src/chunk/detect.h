#pragma once

#include <string_view>

#include "base/result.h"

namespace footnote::chunk {

/// The supported document formats.
enum class Format { kMarkdown, kHtml, kPlainText, kCsv };

/// "text/markdown", "text/html", "text/plain", "text/csv".
std::string_view media_type(Format format);

/// The format for a media type ("text/html; charset=utf-8"); kUnsupported for unknown ones.
Result<Format> format_of_media_type(std::string_view media_type);

/// Detects the format from the file extension and the content. A file without extension is accepted if it is text. Otherwise kUnsupported
/// with a reason for people: "binary file", "unknown file type .xyz".
Result<Format> detect(std::string_view file_name, std::string_view content);

/// kUnsupported if the bytes can't be text: known magic numbers, NUL bytes, UTF-16.
Result<void> check_is_text(std::string_view content);

}  // namespace footnote::chunk
