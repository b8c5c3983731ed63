#pragma once

#include <string_view>

#include "code/code_file.h"
#include "code/php_file.h"

namespace footnote::code {

/// Reads the up() of a migration: its changes in order, and one unit per table that it creates, alters, renames or drops. A migration
/// that changes no table by Schema:: becomes one unit.
void add_migration_units(std::string_view path, const PhpFile& file, const PhpClass& migration, CodeFile& out);

}  // namespace footnote::code
