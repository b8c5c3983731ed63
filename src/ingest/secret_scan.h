#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::ingest {

/// Bump whenever find_secrets would give other results, so that documents scanned by an older build are scanned again.
inline constexpr int kSecretRulesVersion = 1;
/// If a text has more secrets, everything after the last of these counts as secret.
inline constexpr std::size_t kSecretsMax = 10'000;

enum class SecretKind {
  kPrivateKey,   ///< A PEM, OpenSSH, PGP or PuTTY block.
  kAws,          ///< Access key ids, and assigned secret keys.
  kGitHost,      ///< GitHub, GitLab.
  kSlack,        ///< Tokens and webhook addresses.
  kGoogle,       ///< API keys, OAuth client secrets.
  kStripe,       ///< Secret and restricted keys, webhook secrets.
  kModelApi,     ///< OpenAI, Anthropic, Hugging Face.
  kService,      ///< Tokens of other services with a known prefix: npm, PyPI, SendGrid, DigitalOcean, ...
  kFootnoteKey,  ///< An API key of this program.
  kJwt,          ///< A signed JSON web token.
  kUrlPassword,  ///< scheme://user:password@host
  kAssignment,   ///< password = ..., "api_key": "...", Authorization: Bearer ...
};

/// "private key", "AWS key", ...: all that may be shown about a secret.
std::string_view to_string(SecretKind kind);

struct Secret {
  SecretKind kind = SecretKind::kAssignment;
  TextRange range;
};

/// The secrets of a text, in order, without overlaps. Examples from vendors' documentation (AKIAIOSFODNN7EXAMPLE) and placeholders (`xxxx`,
/// `<token>`, `${TOKEN}`) do not count. Time is linear in the text's length.
std::vector<Secret> find_secrets(std::string_view text);

/// Overwrites every byte of the secrets with '*', so offsets stay valid.
void mask(std::string& text, std::span<const Secret> secrets);

/// Finds and masks; adds the kinds to `kinds`.
void mask_secrets(std::string& text, std::set<SecretKind>& kinds);

}  // namespace footnote::ingest
