#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

/// One record of a CSV text and the line that it begins on, counted from 1.
struct CsvRecord {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// Reads RFC 4180: fields with commas between, in quotes where they hold commas, quotes (doubled) or line breaks; lines end in LF or CRLF.
/// A byte order mark and blank lines are passed over. kInvalidArgument names the line: a quote in the midst of a field, one that is never
/// closed, bytes that are not UTF-8. kTooLarge: more than `records_max` records.
Result<std::vector<CsvRecord>> parse_csv(std::string_view text, std::size_t records_max);

}  // namespace footnote
