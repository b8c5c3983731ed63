#include "ingest/secret_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace footnote::ingest {

namespace {

constexpr auto kFolders = std::to_array<std::string_view>({".aws", ".ssh", ".gnupg", ".kube", ".azure", ".docker", ".gcloud"});
constexpr auto kFiles = std::to_array<std::string_view>({".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials", ".htpasswd",
                                                         "htpasswd", ".pgpass", ".my.cnf", ".dockercfg", "auth.json", "secring.gpg"});
constexpr auto kEndings = std::to_array<std::string_view>({".pem", ".key", ".p12", ".pfx", ".pkcs12", ".kdbx", ".kdb", ".jks", ".keystore",
                                                           ".ppk", ".tfstate", ".tfstate.backup", ".ovpn", ".keytab"});
constexpr auto kStarts =
    std::to_array<std::string_view>({"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss", "credentials", ".credentials", "secrets."});
constexpr auto kProse = std::to_array<std::string_view>(
    {".md", ".markdown", ".mdx", ".mkd", ".mdown", ".html", ".htm", ".xhtml", ".rst", ".adoc", ".asciidoc", ".org"});

}  // namespace

bool is_secret_file_name(std::string_view given) {
  const std::string name = to_lower_ascii(given);
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  const auto starts = [&](std::string_view start) { return name.starts_with(start); };
  if (name.starts_with(".env") || std::ranges::find(kFiles, name) != kFiles.end() || std::ranges::any_of(kEndings, ends)) return true;
  if (std::ranges::any_of(kProse, ends)) return false;
  return std::ranges::any_of(kStarts, starts) || (name.starts_with("id_") && name.find('.') == std::string::npos);
}

bool is_secret_folder_name(std::string_view given) {
  const std::string name = to_lower_ascii(given);
  return name.starts_with(".env") || std::ranges::find(kFolders, name) != kFolders.end();
}

bool is_secret_path(std::string_view path) {
  const auto names = split(path, '/');
  return is_secret_file_name(names.back()) || std::any_of(names.begin(), names.end() - 1, is_secret_folder_name);
}

}  // namespace footnote::ingest
