#pragma once

#include <filesystem>

namespace footnote::test {

/// The checkout's root, where fixtures and golden files are found. A function, not a macro: only one unit depends on the
/// path, so a compiler cache serves several checkouts.
std::filesystem::path source_folder();

}  // namespace footnote::test
