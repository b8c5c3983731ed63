#include "eval/asker.h"

#include <algorithm>

#include "api/kb_wire.h"

namespace footnote::eval {
namespace {

class QuietListener final : public answer::TurnListener {
 public:
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
  Result<void> on_text(std::string_view) override { return {}; }
};

}  // namespace

Asker::Asker(const EvalJob& job, const System& system)
    : job_(job), system_(system), profile_(api::profile_for(system.corpus, kAskProfile, system.judge)) {
  if (const auto gate = job.command.gate) (system.judge.empty() ? profile_.gate.evidence_min : profile_.gate.judged_min) = *gate;
}

Result<answer::TurnReport> Asker::ask(const std::string& text) const {
  QuietListener listener;
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
