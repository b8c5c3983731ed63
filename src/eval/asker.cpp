#include "eval/asker.h"

#include <algorithm>

#include "answer/turn_listener.h"

namespace footnote::eval {

Asker::Asker(const EvalJob& job, const System& system, const Profile& profile) : job_(job), system_(system), profile_(profile) {
  if (const auto gate = job.command.gate) profile_.gate.probability_min = profile_.gate.read_min = *gate;
}

Result<answer::TurnReport> Asker::ask(const std::string& text) const {
  answer::SilentListener listener;
  return system_.answers.answer(job_.context.call,
                                {.workspace = system_.corpus.workspace,
                                 .corpus = system_.corpus.id,
                                 .conversation = {},
                                 .text = text,
                                 .filter = {},
                                 .profile = profile_,
                                 .stored = false},
                                listener);
}

std::vector<std::string> cited_documents(const Answer& answer) {
  std::vector<std::string> out;
  for (const Citation& citation : answer.citations) {
    const auto block = std::ranges::find(answer.sources, citation.number, &SourceBlock::number);
    if (block == answer.sources.end() || std::ranges::find(out, block->hit.document_key) != out.end()) continue;
    out.push_back(block->hit.document_key);
  }
  return out;
}

}  // namespace footnote::eval
