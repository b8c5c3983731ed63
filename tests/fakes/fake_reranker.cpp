#include "fakes/fake_reranker.h"

#include "fakes/words.h"

namespace footnote::fakes {

Result<std::vector<Judgement>> FakeReranker::rerank(const CallContext& call, std::string_view question,
                                                    std::span<const std::string_view> passages) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  const std::vector<std::string> wanted = content_stems(question);
  std::vector<Judgement> out;
  for (std::string_view passage : passages) {
    const double share = share_of(wanted, content_stems(passage));
    out.push_back({.raw = 10 * share - 5, .calibrated = share});
  }
  return out;
}

}  // namespace footnote::fakes
