#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/sha256.h"

namespace footnote::eval {

/// Limit on one line of a JSONL file.
inline constexpr std::size_t kJsonLineBytesMax = 16u << 20;

/// Calls `take` with each line that is not blank; its errors are prefixed with file and line. `hash` (may be null) is fed all bytes.
/// kNotFound: no such file. kTooLarge: a line longer than kJsonLineBytesMax.
Result<void> each_line(const std::filesystem::path& path, const std::function<Result<void>(std::string_view)>& take,
                       Sha256* hash = nullptr);

/// Like each_line, for lines that are JSON objects. Arguments: the value, a reader of its fields, and the row's number from 1.
using TakeRow = std::function<Result<void>(const Json& row, const JsonReader& reader, std::size_t place)>;
Result<void> each_row(const std::filesystem::path& path, const TakeRow& take);

}  // namespace footnote::eval
