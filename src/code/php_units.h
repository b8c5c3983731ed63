#pragma once

#include <string_view>
#include <vector>

#include "code/code_file.h"
#include "code/php_file.h"

namespace footnote::code {

/// Units of a PHP file's classes and functions, typed by what Laravel makes of them; `path` decides where the class does not.
void add_php_units(std::string_view path, const PhpFile& file, CodeFile& out);

/// The type of a class: by its base class, then its namespace, then its path.
SourceType php_class_type(std::string_view path, const PhpClass& read);

/// A class's conventional table: "InvoiceLine" becomes "invoice_lines".
std::string table_of_model(std::string_view class_name);

}  // namespace footnote::code
