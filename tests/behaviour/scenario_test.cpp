// Registers every tests/behaviour/scenarios/**/*.scenario as one test. FOOTNOTE_UPDATE=1 rewrites the expected parts with the actual
// output: review the diff before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "commands.h"
#include "support/source_folder.h"

namespace footnote::behaviour {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kScenarioBytesMax = 1 << 20;
const fs::path kFolder = test::source_folder() / "tests/behaviour/scenarios";

class ScenarioTest : public testing::Test {
 public:
  explicit ScenarioTest(fs::path path) : path_(std::move(path)) {}

  void SetUp() override { set_log_level(LogLevel::kOff); }

  void TestBody() override {
    const auto text = read_file(path_, kScenarioBytesMax);
    ASSERT_TRUE(text) << text.error().message;
    const auto scenario = parse_scenario(*text);
    ASSERT_TRUE(scenario) << path_.string() << ": " << scenario.error().message;
    const auto output = run(*scenario);
    ASSERT_TRUE(output) << path_.string() << ": " << output.error().message;
    EXPECT_EQ(output->find("FALSE: "), std::string::npos) << *output;
    if (std::getenv("FOOTNOTE_UPDATE") != nullptr && *output != scenario->expected) {
      ASSERT_TRUE(write_file_atomically(path_, with_expected(*scenario, *output)));
      return;
    }
    EXPECT_EQ(scenario->expected, *output) << path_.string();
  }

 private:
  const fs::path path_;
};

/// "refusal/no_context.scenario" -> "refusal_no_context"
std::string name_of(const fs::path& path) {
  std::string name = fs::relative(path, kFolder).replace_extension().string();
  std::ranges::replace(name, '/', '_');
  return name;
}

int register_scenarios() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() == ".scenario") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    testing::RegisterTest("Scenario", name_of(path).c_str(), nullptr, nullptr, path.c_str(), 1,
                          [path]() -> ScenarioTest* { return new ScenarioTest(path); });
  }
  return static_cast<int>(paths.size());
}

const int kScenarioCount = register_scenarios();

TEST(Scenarios, AreFound) { EXPECT_GE(kScenarioCount, 25) << kFolder; }

}  // namespace
}  // namespace footnote::behaviour
