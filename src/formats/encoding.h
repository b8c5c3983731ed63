#pragma once

#include <string>
#include <string_view>

namespace footnote::formats {

/// A text as UTF-8, and how its bytes were read.
struct Decoded {
  std::string text;
  std::string encoding;   ///< "UTF-8", "UTF-16LE", "windows-1252", "Shift_JIS" ...
  bool repaired = false;  ///< Malformed sequences became U+FFFD.

  /// A remark for the document's author: the encoding is not UTF-8, or bytes were repaired. Empty for plain UTF-8.
  std::string remark() const;
};

/// How many bytes are examined to detect binary content and the encoding.
inline constexpr std::size_t kSniffBytes = 64u << 10;

/// True if the bytes can be text in some encoding: no NUL, unless they are UTF-16 or UTF-32.
bool is_text(std::string_view bytes);

/// Decodes by byte order mark, then as UTF-8, then as `declared` ("shift_jis", from a page's <meta>; may be empty), then by detection.
/// Text that is nearly UTF-8 is repaired; bytes that fit no other encoding are read as windows-1252. Never fails.
Decoded decode(std::string_view bytes, std::string_view declared = {});

/// The charset that an HTML page names near its start; empty if none.
std::string declared_charset(std::string_view html);

}  // namespace footnote::formats
