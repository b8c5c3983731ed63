#include "app/compose_models.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace footnote::app {
namespace {

Result<cpu::CpuLevel> level_for(const std::string& word) {
  const auto settings = Settings::load({.working_folder = "/nowhere",
                                        .environment = [](std::string_view) { return std::optional<std::string>(); },
                                        .flags = {{Setting::kEngineCpu, word}}});
  EXPECT_TRUE(settings.has_value());
  return cpu_level_of(*settings);
}

TEST(CpuLevelSetting, AutoIsTheBestAndEveryOtherWordIsMeant) {
  EXPECT_EQ(level_for("auto"), cpu::best_cpu_level());
  const auto usable = cpu::usable_cpu_levels();
  for (const cpu::CpuLevel level : {cpu::CpuLevel::kPortable, cpu::CpuLevel::kAvx2, cpu::CpuLevel::kAvx2Int8, cpu::CpuLevel::kAvx512,
                                    cpu::CpuLevel::kVnni, cpu::CpuLevel::kAmx}) {
    const auto found = level_for(std::string(cpu::to_string(level)));
    if (std::ranges::find(usable, level) != usable.end()) {
      EXPECT_EQ(found, level);
    } else {
      EXPECT_EQ(found.error().code, ErrorCode::kFailedPrecondition);
    }
  }
}

}  // namespace
}  // namespace footnote::app
