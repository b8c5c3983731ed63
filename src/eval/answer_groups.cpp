#include "eval/answer_groups.h"

#include <fmt/format.h>

#include "cli/text_table.h"

namespace footnote::eval {
namespace {

std::string share_text(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.3f}", static_cast<double>(part) / static_cast<double>(whole));
}

std::string title_of(const AnswerGroup& group) {
  return group.by == "all" ? group.name : fmt::format("{}: {}", group.by, group.name.empty() ? "none" : group.name);
}

cli::TextTable table_of(std::initializer_list<const char*> titles) {
  std::vector<cli::TextTable::Column> columns{{"", cli::Align::kLeft}};
  for (const char* title : titles) columns.push_back({title, cli::Align::kRight});
  return cli::TextTable(std::move(columns));
}

std::string answerable_table(const std::vector<AnswerGroup>& groups) {
  cli::TextTable table =
      table_of({"questions", "right", "in part", "wrong", "wrong, sure", "refused", "right page", "found@10", "found@18"});
  for (const AnswerGroup& group : groups) {
    if (group.answerable == 0) continue;
    std::vector<std::string> cells{title_of(group), fmt::format("{}", group.answerable)};
    for (const std::size_t count :
         {group.right, group.in_part, group.wrong, group.wrong_and_sure, group.refused, group.right_page, group.found_10, group.found_18}) {
      cells.push_back(share_text(count, group.answerable));
    }
    table.add(std::move(cells));
  }
  return table.render();
}

std::string other_table(const std::vector<AnswerGroup>& groups) {
  cli::TextTable table = table_of({"questions", "refused", "answered, sure", "ECE", "median ms", "p95 ms"});
  for (const AnswerGroup& group : groups) {
    table.add({title_of(group), fmt::format("{}", group.unanswerable), share_text(group.unanswerable_refused, group.unanswerable),
               share_text(group.unanswerable_sure, group.unanswerable), fmt::format("{:.3f}", group.ece),
               fmt::format("{:.1f}", group.ms_median), fmt::format("{:.1f}", group.ms_p95)});
  }
  return table.render();
}

}  // namespace

JsonArray groups_json(const std::vector<AnswerGroup>& groups) {
  JsonArray out;
  for (const AnswerGroup& group : groups) {
    out.push_back(JsonObject{{"by", group.by},
                             {"name", group.name},
                             {"answerable", group.answerable},
                             {"right", group.right},
                             {"in_part", group.in_part},
                             {"wrong", group.wrong},
                             {"wrong_and_sure", group.wrong_and_sure},
                             {"refused", group.refused},
                             {"right_page", group.right_page},
                             {"found_10", group.found_10},
                             {"found_18", group.found_18},
                             {"unanswerable", group.unanswerable},
                             {"unanswerable_refused", group.unanswerable_refused},
                             {"unanswerable_sure", group.unanswerable_sure},
                             {"ece", group.ece},
                             {"ms_median", group.ms_median},
                             {"ms_p95", group.ms_p95}});
  }
  return out;
}

std::string groups_table(const std::vector<AnswerGroup>& groups) {
  return fmt::format(
      "Questions that the documents answer:\n\n{}\nQuestions that they do not answer; confidence of all answers, times of all "
      "questions:\n\n{}",
      answerable_table(groups), other_table(groups));
}

}  // namespace footnote::eval
