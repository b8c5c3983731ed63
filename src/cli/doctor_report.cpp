#include "cli/doctor_report.h"

#include <algorithm>

#include "base/json_view.h"
#include "cli/text_table.h"

namespace footnote::cli {
namespace {

/// The name for people, who did not choose the default corpus's name.
std::string shown_name(const Check& check) {
  if (check.name == fmt::format("corpus {}", kDefaultCorpus)) return corpus_label(kDefaultCorpus);
  if (check.name == fmt::format("indexes {}", kDefaultCorpus)) return "indexes";
  return check.name;
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
  for (const Check& check : checks) width = std::max(width, shown_name(check).size());
  std::string out;
  for (const Check& check : checks) {
    out += fmt::format("{}  {:<{}}  {}\n", styled(paint, style_of(check.health), fmt::format("{:<6}", to_string(check.health))),
                       shown_name(check), width, printable(check.detail));
    if (!check.fix.empty()) out += fmt::format("{:{}}fix: {}\n", "", width + 10, printable(check.fix));
  }
  const std::size_t broken = count(checks, Health::kBroken);
  out += broken == 0 ? "\nAll is well.\n" : fmt::format("\n{} to fix.\n", broken);
  return out;
}

Json checks_json(const std::vector<Check>& checks) {
  JsonArray rows;
  for (const Check& check : checks) rows.emplace_back(api::render_check(check));
  return JsonObject{{"ok", count(checks, Health::kBroken) == 0}, {"checks", std::move(rows)}};
}

Check parse_check(const Json& rendered) {
  Check out{std::string(text_at(rendered, "name")),
            Health::kBroken,
            std::string(text_at(rendered, "detail")),
            std::string(text_at(rendered, "fix")),
            {}};
  for (const Health health : {Health::kOk, Health::kNote, Health::kBroken}) {
    if (text_at(rendered, "status") == api::to_string(health)) out.health = health;
  }
  if (!rendered.is_object()) return out;
  for (const auto& [name, value] : rendered.get_object()) {
    if (name != "name" && name != "status" && name != "detail" && name != "fix") out.facts[name] = value;
  }
  return out;
}

}  // namespace footnote::cli
