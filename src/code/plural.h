#pragma once

#include <string>
#include <string_view>

namespace footnote::code {

/// "InvoiceLine" becomes "invoice_line".
std::string snake_case(std::string_view name);
/// The English plural of a lower-case word, of its last part after "_": "company" becomes "companies".
std::string plural(std::string_view word);
/// The reverse for the words that routes use: "companies" becomes "company".
std::string singular(std::string_view word);

}  // namespace footnote::code
