#pragma once

#include <string_view>

namespace footnote::ingest {

/// True for names of files that hold credentials by convention: `.env*`, private keys (`id_rsa`, `*.pem`, `*.key`, `*.p12`), password
/// stores (`*.kdbx`) and credential files of tools (`.npmrc`, `.netrc`, `credentials*`, `auth.json`, `*.tfstate`). Case does not matter.
/// `credentials.md` and other names with an extension of written prose are documents about credentials, and are scanned like every
/// other document. No setting lifts this list: whoever means such a file renames it.
bool is_secret_file_name(std::string_view name);

/// The same for folders: `.aws`, `.ssh`, `.gnupg`, `.env.d`.
bool is_secret_folder_name(std::string_view name);

/// Why such a file is not in.
inline constexpr std::string_view kSecretNameReason = "a file of this name holds credentials; it is never read";

/// True when a path goes through such a folder or ends in such a file.
bool is_secret_path(std::string_view path);

}  // namespace footnote::ingest
