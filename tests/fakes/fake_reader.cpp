#include "fakes/fake_reader.h"

#include <algorithm>

#include "fakes/words.h"

namespace footnote::fakes {

Result<Reading> FakeReader::read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  {
    MutexLock lock(mutex_);
    if (scripted_) return *scripted_;
  }
  const std::vector<std::string> wanted = content_stems(question.text);
  Reading reading;
  for (std::size_t passage = 0; passage < passages.size(); ++passage) {
    const std::string_view text = passages[passage].text;
    for (const TextRange& sentence : sentences_of(text)) {
      const double share = share_of(wanted, content_stems(text.substr(sentence.begin, sentence.size())));
      if (share >= kShareMin) reading.spans.push_back({passage, sentence, share});
    }
  }
  std::ranges::sort(reading.spans, [](const ReadSpan& a, const ReadSpan& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.passage != b.passage ? a.passage < b.passage : a.range.begin < b.range.begin;
  });
  reading.spans.resize(std::min(reading.spans.size(), kSpansMax));
  return reading;
}

void FakeReader::find(Reading reading) {
  MutexLock lock(mutex_);
  scripted_ = std::move(reading);
}

}  // namespace footnote::fakes
