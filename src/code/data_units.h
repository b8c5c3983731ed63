#pragma once

#include <string_view>

#include "code/code_file.h"
#include "code/data_tree.h"

namespace footnote::code {

/// Units of a JSON or YAML file: OpenAPI 3 by operation, a package by its sections, else configuration by top-level key.
void add_data_units(std::string_view path, SourceType type, const DataNode& root, CodeFile& out);

/// A file that is one unit: Podfile, Package.swift.
void add_whole_file(std::string_view path, SourceType type, std::string_view kind, CodeFile& out);

}  // namespace footnote::code
