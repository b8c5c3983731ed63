#include "eval/json_lines.h"

#include <fstream>
#include <string>

#include "base/text.h"

namespace footnote::eval {

Result<void> each_line(const std::filesystem::path& path, const std::function<Result<void>(std::string_view)>& take, Sha256* hash) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) return fail(ErrorCode::kNotFound, "{}: can't be read", path.string());
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (hash != nullptr) hash->update(line).update("\n");
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (text.size() > kJsonLineBytesMax) return fail(ErrorCode::kTooLarge, "{}:{}: line too long", path.string(), number);
    if (auto taken = take(text); !taken) return with_context(std::move(taken).error(), fmt::format("{}:{}", path.string(), number));
  }
  return {};
}

Result<void> each_row(const std::filesystem::path& path, const TakeRow& take) {
  std::size_t place = 0;
  return each_line(path, [&](std::string_view line) -> Result<void> {
    FOOTNOTE_TRY(const Json row, parse_json(line));
    FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(row));
    return take(row, reader, ++place);
  });
}

}  // namespace footnote::eval
