#pragma once

#include <string>
#include <string_view>

namespace footnote::cli {

enum class Style { kBold, kDim, kRed, kGreen, kYellow, kCyan };
enum class Paint { kOff, kOn };

/// Wraps `text` in the style's escape codes, or gives it back as it is.
std::string styled(Paint paint, Style style, std::string_view text);

/// What the two output streams can show. Plain data: tests make their own.
struct Terminal {
  Paint out = Paint::kOff;  ///< Colour on standard output.
  Paint err = Paint::kOff;  ///< Colour on standard error.
  bool progress = false;    ///< Progress bars on standard error.
  int width = 80;           ///< Columns of standard error.
};

/// Looks at the streams, NO_COLOR, TERM and the setting `color` ("auto", "always", "never").
Terminal detect_terminal(std::string_view color_setting);

/// Text from documents is data: control characters (escape codes among them) become spaces or U+FFFD, so that no
/// document can drive the reader's terminal. Line feeds and tabs stay.
std::string printable(std::string_view text);

/// For people: "corpus product"; "default corpus" for the one that is used where none is named.
std::string corpus_label(std::string_view name);

/// Writes all of it; false when the reader has gone (a closed pipe).
bool write_out(std::string_view text);
bool write_err(std::string_view text);

}  // namespace footnote::cli
