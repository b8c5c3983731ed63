#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/utf8.h"
#include "domain/catalog.h"

namespace footnote::cli {
namespace {

std::string_view code_of(Style style) {
  switch (style) {
    case Style::kBold: return "\x1b[1m";
    case Style::kDim: return "\x1b[2m";
    case Style::kRed: return "\x1b[31m";
    case Style::kGreen: return "\x1b[32m";
    case Style::kYellow: return "\x1b[33m";
    case Style::kCyan: return "\x1b[36m";
  }
  return {};
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

int columns_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::string styled(Paint paint, Style style, std::string_view text) {
  if (paint == Paint::kOff || text.empty()) return std::string(text);
  std::string out(code_of(style));
  out += text;
  out += "\x1b[0m";
  return out;
}

Terminal detect_terminal(std::string_view color_setting) {
  Terminal terminal;
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const bool may_paint = color_setting == "auto" && !is_set("NO_COLOR") && !dumb;
  const bool always = color_setting == "always";
  const bool err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  terminal.out = always || (may_paint && ::isatty(STDOUT_FILENO) == 1) ? Paint::kOn : Paint::kOff;
  terminal.err = always || (may_paint && err_is_terminal) ? Paint::kOn : Paint::kOff;
  terminal.progress = err_is_terminal && !dumb && color_setting != "never";
  if (err_is_terminal) terminal.width = columns_of(STDERR_FILENO);
  return terminal;
}

std::string corpus_label(std::string_view name) { return name == kDefaultCorpus ? "default corpus" : "corpus " + std::string(name); }

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    // Bidirectional controls can make a line read as something else.
    const bool turns = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    if (c == '\n' || c == '\t') {
      out += static_cast<char>(c);
    } else if (c == '\r') {
      out += ' ';
    } else {
      append_utf8(out, control || turns ? kReplacementCharacter : c);
    }
  }
  return out;
}

bool write_out(std::string_view text) { return write_all(STDOUT_FILENO, text); }
bool write_err(std::string_view text) { return write_all(STDERR_FILENO, text); }

}  // namespace footnote::cli
