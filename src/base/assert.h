#pragma once

namespace footnote {

/// Prints the failed condition and aborts. Use it for invariants of our own code; input is validated, never asserted.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace footnote

#define FOOTNOTE_ASSERT(condition) ((condition) ? void(0) : ::footnote::assertion_failed(#condition, __FILE__, __LINE__))
