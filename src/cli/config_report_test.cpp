#include "cli/config_report.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "support/source_folder.h"

namespace footnote::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ConfigReport, SecretsNeverShow) {
  const std::map<std::string, std::string, std::less<>> environment{
      {"LLM_API_KEY", "sk-very-secret"}, {"EMBEDDER_KEY", "sk-very-secret-too"}, {"RERANKER_KEY", "sk-very-secret-3"}};
  const auto settings = Settings::load({.working_folder = "/nowhere",
                                        .config_file = {},
                                        .environment = [&](std::string_view name) -> std::optional<std::string> {
                                          const auto found = environment.find(name);
                                          if (found == environment.end()) return std::nullopt;
                                          return found->second;
                                        },
                                        .flags = {}});
  ASSERT_TRUE(settings);
  EXPECT_THAT(render_config(*settings), Not(HasSubstr("sk-very-secret")));
  EXPECT_THAT(render_config(*settings), HasSubstr("(set, hidden)"));
  EXPECT_THAT(to_text(config_json(*settings)), Not(HasSubstr("sk-very-secret")));
  EXPECT_THAT(to_text(config_json(*settings)), HasSubstr("\"set\":true"));
}

TEST(ConfigReport, ReferencePageIsUpToDate) {
  const auto page = read_file(test::source_folder() / "docs" / "configuration.md", 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(*page, config_markdown()) << "run: footnote config --markdown > docs/configuration.md";
}

}  // namespace
}  // namespace footnote::cli
