#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

/// One CSV record and the line that it starts on, counted from 1.
struct CsvRecord {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// Parses RFC 4180: fields are separated by commas, and quoted where they contain commas, quotes (doubled) or line breaks. Lines end in LF
/// or CRLF. A byte order mark and blank lines are skipped.
/// kInvalidArgument, with the line number: a quote inside an unquoted field, an unclosed quote, or bytes that are not UTF-8. kTooLarge:
/// more than `records_max` records.
Result<std::vector<CsvRecord>> parse_csv(std::string_view text, std::size_t records_max);

}  // namespace footnote
