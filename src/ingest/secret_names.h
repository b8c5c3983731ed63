#pragma once

#include <string_view>

namespace footnote::ingest {

/// True for file names that hold credentials by convention: `.env*`, private keys (`id_rsa`, `*.pem`, `*.key`, `*.p12`), password stores
/// (`*.kdbx`) and credential files of tools (`.npmrc`, `.netrc`, `credentials*`, `auth.json`, `*.tfstate`). Case-insensitive.
/// `credentials.md` and other names with a prose extension are documents about credentials, and are scanned like any other document. No
/// setting overrides this list: to ingest such a file, rename it.
bool is_secret_file_name(std::string_view name);

/// The same for folders: `.aws`, `.ssh`, `.gnupg`, `.env.d`.
bool is_secret_folder_name(std::string_view name);

/// The reason reported for such a file.
inline constexpr std::string_view kSecretNameReason = "a file of this name holds credentials; it is never read";

/// True when a path goes through such a folder or ends in such a file.
bool is_secret_path(std::string_view path);

}  // namespace footnote::ingest
