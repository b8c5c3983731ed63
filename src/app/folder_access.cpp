#include "app/folder_access.h"

#include <algorithm>

#include "base/text.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote::app {
namespace {

Result<void> check_store_is_there(const Settings& settings) {
  std::error_code ignored;
  const std::filesystem::path folder = settings.path(Setting::kData);
  if (std::filesystem::exists(folder / kStoreFile, ignored)) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "nothing is indexed in {} yet; run `footnote ingest PATH{}` first, or name another folder with --data", folder.string(),
              data_flag(settings));
}

std::string quoted_for_shell(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return is_ascii_alphanumeric(c) || std::string_view("/._-+").contains(c); });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string data_flag(const Settings& settings) {
  if (settings.value(Setting::kData).origin == Origin::kDefault) return {};
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(settings.path(Setting::kData), ignored);
  return " --data " + quoted_for_shell(path.lexically_normal().string());
}

Result<FolderAccess> access_folder(const Settings& settings, Missing missing) {
  const auto path = settings.path(Setting::kData);
  if (missing == Missing::kRefuse) FOOTNOTE_CHECK(check_store_is_there(settings));
  auto folder = DataFolder::open(path);
  if (folder) return FolderAccess(*std::move(folder));
  if (folder.error().code != ErrorCode::kFailedPrecondition) return std::unexpected(std::move(folder).error());
  FOOTNOTE_TRY(const auto holder, DataFolder::holder(path));
  if (holder && !holder->url.empty()) return FolderAccess(HeldByServer{holder->pid, holder->url, holder->token});
  return std::unexpected(std::move(folder).error());
}

Result<DataFolder> own_folder(const Settings& settings, Missing missing) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(settings, missing));
  if (auto* folder = std::get_if<DataFolder>(&access)) return std::move(*folder);
  const auto& server = std::get<HeldByServer>(access);
  return fail(ErrorCode::kFailedPrecondition,
              "the server at {} (process {}) has {}, and this command needs it alone: stop that server, or use a copy (`footnote snapshot "
              "FILE`, then `footnote restore FILE --data COPY`)",
              server.url, server.pid, settings.text(Setting::kData));
}

}  // namespace footnote::app
