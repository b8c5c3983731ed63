#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::ingest {

/// Changes whenever find_secrets would find something else, so that documents scanned by an older build are scanned again.
inline constexpr int kSecretRulesVersion = 1;
/// A text with more is taken as secret from there to its end.
inline constexpr std::size_t kSecretsMax = 10'000;

enum class SecretKind {
  kPrivateKey,   ///< A PEM, OpenSSH, PGP or PuTTY block.
  kAws,          ///< Access key ids, and secret keys that are assigned.
  kGitHost,      ///< GitHub, GitLab.
  kSlack,        ///< Tokens and webhook addresses.
  kGoogle,       ///< API keys, OAuth client secrets.
  kStripe,       ///< Secret and restricted keys, webhook secrets.
  kModelApi,     ///< OpenAI, Anthropic, Hugging Face.
  kService,      ///< Tokens of other services that can be told by their prefix: npm, PyPI, SendGrid, DigitalOcean, ...
  kFootnoteKey,  ///< An API key of this program.
  kJwt,          ///< A signed JSON web token.
  kUrlPassword,  ///< scheme://user:password@host
  kAssignment,   ///< password = ..., "api_key": "...", Authorization: Bearer ...
};

/// "private key", "AWS key", ...: what may be told of a secret.
std::string_view to_string(SecretKind kind);

struct Secret {
  SecretKind kind = SecretKind::kAssignment;
  TextRange range;
};

/// The secrets of a text, in order, without overlaps. Values that vendors print in their own documentation (AKIAIOSFODNN7EXAMPLE) and
/// placeholders (`xxxx`, `<token>`, `${TOKEN}`) are none. Time is linear in the text's length.
std::vector<Secret> find_secrets(std::string_view text);

/// Overwrites every byte of the secrets with '*', so that offsets stay.
void mask(std::string& text, std::span<const Secret> secrets);

/// Finds and masks; adds the kinds to `kinds`.
void mask_secrets(std::string& text, std::set<SecretKind>& kinds);

}  // namespace footnote::ingest
