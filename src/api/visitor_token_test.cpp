#include "api/visitor_token.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

const UtcTime kNow = *parse_rfc3339("2026-03-01T09:00:00Z");

VisitorClaims claims() {
  return {.origin = "https://shop.example",
          .workspace = {3},
          .agent = {"agt_1"},
          .visitor = {"vis_1"},
          .conversation = {"conv_1"},
          .locale = "de-AT",
          .playground = true,
          .issued_at = kNow,
          .expires_at = kNow + kVisitorTokenTime};
}

TEST(VisitorToken, SaysWhatItWasMadeOf) {
  const VisitorTokens tokens("pepper");
  const auto read = tokens.check(tokens.issue(claims()), kNow);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->origin, "https://shop.example");
  EXPECT_EQ(read->workspace, WorkspaceId{3});
  EXPECT_EQ(read->agent.value, "agt_1");
  EXPECT_EQ(read->visitor.value, "vis_1");
  EXPECT_EQ(read->conversation.value, "conv_1");
  EXPECT_EQ(read->locale, "de-AT");
  EXPECT_TRUE(read->playground);
  EXPECT_EQ(read->expires_at, kNow + kVisitorTokenTime);
}

TEST(VisitorToken, IsTheSameAfterARestartAndOfNoUseElsewhere) {
  const std::string token = VisitorTokens("pepper").issue(claims());
  EXPECT_TRUE(VisitorTokens("pepper").check(token, kNow));
  EXPECT_FALSE(VisitorTokens("other").check(token, kNow));
}

TEST(VisitorToken, EndsWithItsTimeAndBringsBackForADay) {
  const VisitorTokens tokens("pepper");
  const std::string token = tokens.issue(claims());
  const auto second = std::chrono::seconds{1};
  EXPECT_TRUE(tokens.check(token, kNow + kVisitorTokenTime - second));
  EXPECT_EQ(tokens.check(token, kNow + kVisitorTokenTime).error().code, ErrorCode::kUnauthenticated);
  EXPECT_TRUE(tokens.check_for_resume(token, kNow + kVisitorResumeTime - second));
  EXPECT_FALSE(tokens.check_for_resume(token, kNow + kVisitorResumeTime));
}

TEST(VisitorToken, NoChangedCharacterPasses) {
  const VisitorTokens tokens("pepper");
  const std::string token = tokens.issue(claims());
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(tokens.check(changed, kNow)) << at;
  }
  for (std::size_t size = 0; size < token.size(); ++size) EXPECT_FALSE(tokens.check(token.substr(0, size), kNow));
  EXPECT_FALSE(tokens.check(token + "A", kNow));
  EXPECT_FALSE(tokens.check(std::string(kVisitorTokenBytesMax + 1, 'a'), kNow));
}

// {"alg":"none","typ":"JWT"} without a signature: the classic attack.
TEST(VisitorToken, ATokenDoesNotChooseHowItIsChecked) {
  const VisitorTokens tokens("pepper");
  const std::string token = tokens.issue(claims());
  const std::string payload = token.substr(token.find('.'), token.rfind('.') - token.find('.'));
  EXPECT_FALSE(tokens.check("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0" + payload + ".", kNow));
  EXPECT_FALSE(tokens.check("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0" + payload + token.substr(token.rfind('.')), kNow));
  EXPECT_FALSE(tokens.check(token.substr(0, token.rfind('.') + 1), kNow));
  EXPECT_FALSE(tokens.check("", kNow));
  EXPECT_FALSE(tokens.check("..", kNow));
}

}  // namespace
}  // namespace footnote::api
