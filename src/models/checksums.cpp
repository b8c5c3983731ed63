#include "models/checksums.h"

#include <algorithm>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 64;
constexpr std::size_t kNameColumn = kDigits + 2;  // "<64 digits> <space or *><name>"
constexpr std::size_t kPieceBytes = 1 << 20;

bool stays_inside(const fs::path& name) {
  return !name.is_absolute() && std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

}  // namespace

Result<ModelChecksums> read_model_checksums(const fs::path& folder) {
  const fs::path path = folder / kChecksumsName;
  const auto text = read_file(path, kChecksumsBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return ModelChecksums{};
  if (!text) return std::unexpected(text.error());
  ModelChecksums out;
  for (std::string_view line : split(*text, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    if (line.size() <= kNameColumn || line[kDigits] != ' ') {
      return fail(ErrorCode::kCorrupted, "{} is not a list of SHA-256 sums", path.string());
    }
    std::string_view name = line.substr(kNameColumn);
    if (name.starts_with("./")) name.remove_prefix(2);
    if (!stays_inside(name)) return fail(ErrorCode::kCorrupted, "{} names a file outside its folder: {}", path.string(), name);
    out.insert_or_assign(std::string(name), to_lower_ascii(line.substr(0, kDigits)));
  }
  return out;
}

std::string render_model_checksums(const ModelChecksums& sums) {
  std::string out;
  for (const auto& [name, sum] : sums) out += fmt::format("{}  {}\n", sum, name);
  return out;
}

Result<std::string> sum_file(const CallContext& call, const fs::path& path, const BytesRead& on_read, AtomicFile* copy) {
  FOOTNOTE_TRY(InputFile file, InputFile::open(path));
  Sha256 sum;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, file.size())));
  for (std::uint64_t left = file.size(); left > 0;) {
    FOOTNOTE_CHECK(call.check());
    const std::span<std::byte> bytes = std::span(piece).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
    FOOTNOTE_CHECK(file.read(bytes));
    sum.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (copy != nullptr) FOOTNOTE_CHECK(copy->write(bytes));
    left -= bytes.size();
    on_read(bytes.size());
  }
  return sum.hex();
}

}  // namespace footnote::models
