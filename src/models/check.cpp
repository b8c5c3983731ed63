#include "models/check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/nn/packed_file.h"
#include "models/copy.h"
#include "models/folder.h"
#include "models/list.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLevels{cpu::CpuLevel::kPortable, cpu::CpuLevel::kAvx2, cpu::CpuLevel::kAvx2Int8,
                             cpu::CpuLevel::kAvx512,   cpu::CpuLevel::kVnni, cpu::CpuLevel::kAmx};

bool is_wrong(FileState state) {
  switch (state) {
    case FileState::kOk:
    case FileState::kUnlisted:
    case FileState::kStale: return false;
    case FileState::kMissing:
    case FileState::kDamaged:
    case FileState::kUnreadable: return true;
  }
  return true;
}

bool ends_the_call(const Error& error) { return error.code == ErrorCode::kCancelled || error.code == ErrorCode::kDeadlineExceeded; }

Result<FileFinding> check_listed(const CallContext& call, const fs::path& folder, const std::string& name, const std::string& wanted,
                                 const BytesRead& on_read) {
  const auto sum = sum_file(call, folder / name, on_read);
  if (sum && *sum == wanted) return FileFinding{name, FileState::kOk, {}};
  if (sum) return FileFinding{name, FileState::kDamaged, fmt::format("its SHA-256 sum is {}, not {}", *sum, wanted)};
  if (ends_the_call(sum.error())) return std::unexpected(sum.error());
  if (sum.error().code == ErrorCode::kNotFound) return FileFinding{name, FileState::kMissing, "it is listed, but missing"};
  return FileFinding{name, FileState::kUnreadable, sum.error().message};
}

/// The payload size in the file's header: see nn::PackedFile. 0 if the file is too short.
std::uint64_t payload_bytes_said(const fs::path& path) {
  constexpr std::size_t kPayloadBytesAt = 24;
  static_assert(std::endian::native == std::endian::little);
  std::array<std::byte, kPayloadBytesAt + sizeof(std::uint64_t)> start{};
  auto file = InputFile::open(path);
  if (!file || !file->read(start)) return 0;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, start.data() + kPayloadBytesAt, sizeof(bytes));
  return bytes;
}

/// The kernels that a packed file is for; null: none in this build.
const nn::Kernels* kernels_for(const fs::path& packed) {
  for (const cpu::CpuLevel level : kLevels) {
    const nn::Kernels* kernels = nn::kernels_of(level);
    if (kernels != nullptr && nn::PackedFile::path_of(packed.parent_path(), *kernels) == packed) return kernels;
  }
  return nullptr;
}

FileFinding check_packed(const fs::path& path) {
  const std::string name = path.filename().string();
  const nn::Kernels* kernels = kernels_for(path);
  if (kernels == nullptr) return {name, FileState::kStale, "no CPU level of this build uses it"};
  const auto key = nn::PackedFile::key_of(path.parent_path() / kWeightsName, *kernels, payload_bytes_said(path));
  if (!key) return {name, FileState::kStale, "its weights are missing"};
  const auto opened = nn::PackedFile::open(path, *key);
  if (opened) return {name, FileState::kOk, {}};
  if (opened.error().code == ErrorCode::kNotFound) {
    return {name, FileState::kStale, "it was made from other weights or by another version; the next start rebuilds it"};
  }
  if (opened.error().code != ErrorCode::kCorrupted) return {name, FileState::kUnreadable, opened.error().message};
  std::error_code error;
  fs::remove(path, error);
  if (error) return {name, FileState::kDamaged, fmt::format("it fails its checksum; remove it: {}", error.message())};
  return {name, FileState::kDamaged, "it failed its checksum and was removed; the next start rebuilds it"};
}

void add_unlisted(const fs::path& folder, const ModelChecksums& sums, std::vector<FileFinding>& files) {
  for (const std::string_view name : model_file_names()) {
    std::error_code ignored;
    if (sums.contains(name) || !fs::exists(folder / name, ignored)) continue;
    files.push_back({std::string(name), FileState::kUnlisted, fmt::format("{} does not list it", kChecksumsName)});
  }
}

}  // namespace

bool ModelVerdict::sound() const {
  return reason.empty() && std::ranges::none_of(files, [](const FileFinding& file) { return is_wrong(file.state); });
}

Result<ModelVerdict> verify_model(const CallContext& call, const fs::path& folder, const BytesRead& on_read) {
  ModelVerdict out;
  out.name = folder.filename().string();
  out.path = folder;
  const auto sums = read_model_checksums(folder);
  if (!sums) {
    out.has_checksums = true;
    out.files.push_back({std::string(kChecksumsName), FileState::kUnreadable, sums.error().message});
    return out;
  }
  out.has_checksums = !sums->empty();
  for (const auto& [name, sum] : *sums) {
    FOOTNOTE_TRY(FileFinding finding, check_listed(call, folder, name, sum, on_read));
    out.files.push_back(std::move(finding));
  }
  add_unlisted(folder, *sums, out.files);
  for (const std::string& name : packed_names(folder)) {
    FOOTNOTE_CHECK(call.check());
    out.files.push_back(check_packed(folder / name));
  }
  // If a file is wrong, opening would only report that again.
  const bool listed_fit = std::ranges::none_of(*sums, [&](const auto& listed) {
    const auto finding = std::ranges::find(out.files, listed.first, &FileFinding::name);
    return finding != out.files.end() && is_wrong(finding->state);
  });
  if (!listed_fit) return out;
  if (const auto files = nn::ModelFiles::open(folder); !files) out.reason = advise(files.error(), out.name).message;
  return out;
}

std::uint64_t bytes_to_verify(const fs::path& folder) {
  std::uint64_t total = 0;
  const auto sums = read_model_checksums(folder);
  if (!sums) return 0;
  for (const auto& [name, sum] : *sums) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(folder / name, error);
    if (!error) total += bytes;
  }
  return total;
}

}  // namespace footnote::models
