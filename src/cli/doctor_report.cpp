#include "cli/doctor_report.h"

#include <algorithm>

#include "cli/text_table.h"

namespace footnote::cli {
namespace {

std::string_view name_of(Health health) {
  switch (health) {
    case Health::kOk: return "ok";
    case Health::kNote: return "note";
    case Health::kBroken: return "broken";
  }
  return {};
}

Style style_of(Health health) {
  switch (health) {
    case Health::kOk: return Style::kGreen;
    case Health::kNote: return Style::kYellow;
    case Health::kBroken: return Style::kRed;
  }
  return Style::kBold;
}

}  // namespace

std::size_t count(const std::vector<Check>& checks, Health health) {
  return static_cast<std::size_t>(std::count_if(checks.begin(), checks.end(), [&](const Check& check) { return check.health == health; }));
}

std::string render_checks(const std::vector<Check>& checks, Paint paint) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.shown_name().size());
  std::string out;
  for (const Check& check : checks) {
    out += fmt::format("{}  {:<{}}  {}\n", styled(paint, style_of(check.health), fmt::format("{:<6}", name_of(check.health))),
                       check.shown_name(), width, printable(check.detail));
    if (!check.fix.empty()) out += fmt::format("{:{}}fix: {}\n", "", width + 10, printable(check.fix));
  }
  const std::size_t broken = count(checks, Health::kBroken);
  out += broken == 0 ? "\nAll is well.\n" : fmt::format("\n{} to fix.\n", broken);
  return out;
}

Json checks_json(const std::vector<Check>& checks) {
  JsonArray rows;
  for (const Check& check : checks) {
    JsonObject row{{"name", check.name}, {"status", name_of(check.health)}, {"detail", check.detail}};
    row["fix"] = check.fix.empty() ? Json(nullptr) : Json(check.fix);
    for (const auto& [name, value] : check.facts) row[name] = value;
    rows.push_back(std::move(row));
  }
  return JsonObject{{"ok", count(checks, Health::kBroken) == 0}, {"checks", std::move(rows)}};
}

}  // namespace footnote::cli
