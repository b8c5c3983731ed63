#include "ingest/secret_scan.h"

#include <gtest/gtest.h>

#include "ingest/secret_filter.h"
#include "ingest/secret_values.h"

namespace footnote::ingest {
namespace {

/// "kind: value" of each secret.
std::string show(std::string_view text) {
  std::string out;
  for (const Secret& secret : find_secrets(text)) {
    out += std::string(to_string(secret.kind)) + ": " + std::string(text.substr(secret.range.begin, secret.range.size())) + "\n";
  }
  return out;
}

const std::string kBody =
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n";

TEST(SecretScanTest, PrivateKeyBlocks) {
  const std::string pem = "-----BEGIN RSA PRIVATE KEY-----\n" + kBody + "-----END RSA PRIVATE KEY-----";
  EXPECT_EQ(show("before\n" + pem + "\nafter"), "private key: " + pem + "\n");
  const std::string ssh = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + kBody;
  EXPECT_TRUE(show(ssh + "\n(The end.)").starts_with("private key: " + ssh)) << "never closed: to the end of its base64";
  EXPECT_EQ(show("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"), "");
  EXPECT_EQ(show("-----BEGIN PUBLIC KEY-----\n" + kBody + "-----END PUBLIC KEY-----"), "");
  EXPECT_EQ(find_secrets("PuTTY-User-Key-File-3: ssh-rsa\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\nAAAB\nPrivate-MAC: 00\nx").size(), 1u);
  // A service account: line ends are escaped as \n.
  EXPECT_EQ(
      find_secrets("{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
                   "MzEfYyjiWA4R\\n-----END PRIVATE KEY-----\\n\"}")
          .size(),
      1u);
}

/// Joined at run time, so that secret scanners do not report this file.
std::string join(std::string_view prefix, std::string_view rest) { return std::string(prefix) + std::string(rest); }

TEST(SecretScanTest, TokensByTheirPrefix) {
  constexpr std::string_view k36 = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
  constexpr std::string_view kHex64 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const std::pair<std::string, std::string_view> cases[] = {
      {join("AKIA", "QYLPMN5HFIQR7XYA"), "AWS key"},
      {join("ASIA", "QYLPMN5HFIQR7XYA"), "AWS key"},
      {join("ghp_", k36), "GitHub or GitLab token"},
      {join("ghs_", k36), "GitHub or GitLab token"},
      {join("github_pat_", "11ABCDEFG0a1b2c3d4e5f6_7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x4y5z6"), "GitHub or GitLab token"},
      {join("glpat-", "a1B2c3D4e5F6g7H8i9J0"), "GitHub or GitLab token"},
      {join("xoxb-", "2489234234-2389472398-aBcDeFgHiJkLmNoPqRsTuVwX"), "Slack token"},
      {join("hooks.slack.com/services/", "T024BE7LD/B01ABCD2EFG/aBcDeFgHiJkLmNoPqRsTuV12"), "Slack token"},
      {join("AIza", "SyD9tSrke72PouQMnMX-a7eZSW0jkFMBWYz"), "Google key"},
      {join("GOCSPX-", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"), "Google key"},
      {join("sk_live_", "51H8a9bC2dE3fG4hI5jK6lM7n"), "Stripe key"},
      {join("whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "Stripe key"},
      {join("sk-proj-", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"), "model provider's key"},
      {join("sk-ant-", "api03-a1B2c3D4e5F6g7H8i9J0k1L2m3N4"), "model provider's key"},
      {join("hf_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7"), "model provider's key"},
      {join("npm_", k36), "service token"},
      {join("dop_v1_", kHex64), "service token"},
      {join("shpat_", "9f86d081884c7d659a2feaa0c55ad015"), "service token"},
      {join("SG.", "a1B2c3D4e5F6g7H8i9J0k1.L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g"), "service token"},
      {join("fn_live_", k36), "Footnote key"},
      {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0NDQ0IiwibmFtZSI6Ikphbm5lIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
       "JSON web token"},
  };
  for (const auto& [token, kind] : cases) {
    const std::string line = std::string(kind) + ": " + token + "\n";
    EXPECT_EQ(show("see " + token + " here"), line);
    EXPECT_EQ(show("\"" + token + "\","), line);
    EXPECT_EQ(show("x" + token), "") << "part of a longer word: " << token;
  }
}

TEST(SecretScanTest, VendorsExamplesAndPlaceholdersAreNone) {
  const std::string texts[] = {
      "AKIAIOSFODNN7EXAMPLE",
      "AKIAI44QH8DHBEXAMPLE",
      "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      join("ghp_", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
      join("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"),
      join("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"),
      "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
      "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
      "password = \"hunter2\"",
      "password: your-password-here",
      "password: changeme123A",
      "DB_PASSWORD=${DB_PASSWORD}",
      "api_key = os.environ[\"API_KEY\"]",
      "password = $request->input('password');",
      "token: <your token>",
      "APP_KEY=eyJpdiI6...",
      "The password: it must have 12 characters, 3 of them digits.",
      "\"password_reset_tokens\": \"users_v2\"",
      "postgres://user:password@localhost/db",
      "https://host:8080/a@b",
      "Authorization: Bearer <token>",
      "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
  };
  for (const std::string& text : texts) EXPECT_EQ(show(text), "") << text;
}

TEST(SecretScanTest, AssignmentsInEverySpelling) {
  const std::string value = "q7Rv9Zk2Lm4Xw8Tn";
  const std::string_view forms[] = {"password = \"{}\"",
                                    "PASSWORD={}",
                                    "password: {}",
                                    "\"api_key\": \"{}\",",
                                    "'secret' => '{}',",
                                    "client_secret := `{}`",
                                    "<password>{}</password>",
                                    "$config[\"password\"] = '{}';",
                                    "--token={}",
                                    "Authorization: Bearer {}",
                                    "-H \"Authorization: Bearer {}\"",
                                    "\\\"db_password\\\": \\\"{}\\\"",
                                    "**Password:** {}",
                                    "X-Api-Key: {}"};
  for (const std::string_view form : forms) {
    const std::size_t hole = form.find("{}");
    const std::string text = std::string(form.substr(0, hole)) + value + std::string(form.substr(hole + 2));
    EXPECT_EQ(show(text), "password or token: " + value + "\n") << text;
  }
  EXPECT_EQ(show("aws_secret_access_key = " + value + value), "AWS key: " + value + value + "\n");
  EXPECT_EQ(show("DB_PASSWORD=Tr0ub4dor&3x"), "password or token: Tr0ub4dor&3x\n");
  EXPECT_EQ(show("DATABASE_URL=postgres://app:" + value + "@db.internal/app"), "password in an address: " + value + "\n");
}

TEST(SecretScanTest, MaskingKeepsOffsetsAndUtf8) {
  std::string text = "\u00E4 password=\"q7Rv9Zk2Lm4Xw8T\u00F6n\" \u00FC";
  std::set<SecretKind> kinds;
  mask_secrets(text, kinds);
  EXPECT_EQ(text, "\u00E4 password=\"" + std::string(18, '*') + "\" \u00FC");
  EXPECT_EQ(kinds, std::set<SecretKind>{SecretKind::kAssignment});
}

TEST(SecretScanTest, CountIsBoundedAndTheRestIsSecret) {
  std::string text;
  for (std::size_t i = 0; i < kSecretsMax + 5; ++i) text += "password=q7Rv9Zk2Lm4Xw8Tn\n";
  const auto found = find_secrets(text);
  EXPECT_EQ(found.size(), kSecretsMax);
  EXPECT_EQ(found.back().range.end, text.size());
}

TEST(SecretFilterTest, DropsThePassagesThatTouchASecret) {
  const auto parsed = chunk::parse_document("a.md", chunk::Format::kMarkdown,
                                            "# Guide\n\nPlain words.\n\n## Keys ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\n\nMore words.\n");
  ASSERT_TRUE(parsed.has_value());
  chunk::ParsedDocument document = *parsed;
  SecretFilter filter;
  filter.mask_document(document);
  EXPECT_EQ(document.text.find("ghp_A1"), std::string::npos);
  auto pieces = chunk::chunk_document(document, {.target_bytes = 16, .max_bytes = 80});
  const std::size_t before = pieces.size();
  filter.drop_pieces(pieces);
  EXPECT_EQ(filter.passages(), before - pieces.size());
  EXPECT_GE(filter.passages(), 1u);
  ASSERT_FALSE(pieces.empty());
  for (const chunk::Piece& piece : pieces) {
    EXPECT_EQ(chunk::embedding_text(piece).find("ghp_A1"), std::string::npos);
  }
  EXPECT_EQ(filter.reason(),
            std::to_string(filter.passages()) + (filter.passages() == 1 ? " passage" : " passages") + " kept out: GitHub or GitLab token");
}

}  // namespace
}  // namespace footnote::ingest
