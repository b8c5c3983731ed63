#pragma once

#include <string>
#include <vector>

#include "answer/turn_report.h"
#include "domain/profile.h"
#include "eval/job.h"
#include "eval/system.h"

namespace footnote::eval {

/// Asks as a user would, gate and answer included, by the profile of `footnote ask`, or with --gate in place of the corpus's own threshold.
/// Nothing of it is stored. Borrows both.
class Asker {
 public:
  /// `profile`: how the corpus is asked, before --gate.
  Asker(const EvalJob& job, const System& system, const Profile& profile);

  Result<answer::TurnReport> ask(const std::string& text) const;
  /// That questions are asked by.
  const Profile& profile() const { return profile_; }

 private:
  const EvalJob& job_;
  const System& system_;
  Profile profile_;
};

/// The keys of the documents that an answer cites, each once, in the order of their first citation.
std::vector<std::string> cited_documents(const Answer& answer);

}  // namespace footnote::eval
