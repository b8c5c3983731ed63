// The streamed response of a language model's server: any slicing gives the same text and the same end.
#include "providers/openai/chat_wire.h"

#include "base/utf8.h"
#include "target.h"

namespace footnote {
namespace {

struct Outcome {
  std::string text;
  Result<ChatEnd> end = ChatEnd{};
};

Outcome read(const std::vector<std::string_view>& pieces) {
  Outcome out;
  const ChatStreamReader::OnText on_text = [&](std::string_view text) -> Result<void> {
    FOOTNOTE_ASSERT(!text.empty() && is_valid_utf8(text));
    out.text += text;
    return {};
  };
  ChatStreamReader reader(on_text);
  for (const std::string_view piece : pieces) {
    if (auto fed = reader.feed(piece); !fed) {
      out.end = std::unexpected(fed.error());
      return out;
    }
  }
  out.end = reader.finish();
  return out;
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view bytes = fuzz::as_text(data, size);
  const Outcome whole = read({bytes});
  const Outcome sliced = read(fuzz::random_pieces(bytes));
  FOOTNOTE_ASSERT(whole.end.has_value() == sliced.end.has_value());
  // A stream that exceeds the size limit may have returned more text before that if it arrived in pieces.
  FOOTNOTE_ASSERT(sliced.text.starts_with(whole.text));
  FOOTNOTE_ASSERT(sliced.text.size() <= size);
  if (!whole.end) {
    FOOTNOTE_ASSERT(whole.end.error().code == sliced.end.error().code);
    FOOTNOTE_ASSERT(whole.end.error().message == sliced.end.error().message);
    return 0;
  }
  FOOTNOTE_ASSERT(whole.text == sliced.text && is_valid_utf8(whole.end->model));
  FOOTNOTE_ASSERT(whole.end->finish == sliced.end->finish && whole.end->model == sliced.end->model);
  FOOTNOTE_ASSERT(whole.end->tokens == sliced.end->tokens);
  FOOTNOTE_ASSERT(!whole.end->tokens || (whole.end->tokens->prompt >= 0 && whole.end->tokens->prompt <= kTokensMax));
  return 0;
}
