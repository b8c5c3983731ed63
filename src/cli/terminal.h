#pragma once

#include <string>
#include <string_view>

namespace footnote::cli {

enum class Style { kBold, kDim, kRed, kGreen, kYellow, kCyan };
enum class Paint { kOff, kOn };

/// Wraps `text` in the style's escape codes, or returns it unchanged.
std::string styled(Paint paint, Style style, std::string_view text);

/// Capabilities of the two output streams. Plain data, so tests can make their own.
struct Terminal {
  Paint out = Paint::kOff;  ///< Colour on standard output.
  Paint err = Paint::kOff;  ///< Colour on standard error.
  bool progress = false;    ///< Progress bars on standard error.
  int width = 80;           ///< Columns of standard error.
};

/// Uses the streams, NO_COLOR, TERM and the setting `color` ("auto", "always", "never").
Terminal detect_terminal(std::string_view color_setting);

/// Document text is untrusted: control characters (including escape codes) become spaces or U+FFFD, so that no document can control the
/// reader's terminal. Line feeds and tabs stay.
std::string printable(std::string_view text);

/// For people: "corpus product"; "default corpus" for the one used if none is named.
std::string corpus_label(std::string_view name);

/// Writes all of it; false if the reader has closed the pipe.
bool write_out(std::string_view text);
bool write_err(std::string_view text);

}  // namespace footnote::cli
