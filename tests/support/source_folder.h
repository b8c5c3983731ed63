#pragma once

#include <filesystem>

namespace footnote::test {

/// The root of the checkout, with fixtures and golden files. A function, not a macro: only one unit depends on the path, so that a compiler
/// cache works for several checkouts.
std::filesystem::path source_folder();

}  // namespace footnote::test
