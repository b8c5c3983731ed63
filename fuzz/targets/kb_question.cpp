// The body of a question: an invalid one gives a client error that names the field; a valid one is within its limits and reads the same
// from its plain form.
#include "api/error_mapping.h"
#include "api/kb_wire.h"
#include "base/text.h"
#include "base/utf8.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const auto question = api::parse_kb_question({.body = std::string(fuzz::as_text(data, size))});
  if (!question) {
    const http::Response response = api::render_error(question.error());
    FOOTNOTE_ASSERT(response.status >= 400 && response.status < 500);
    FOOTNOTE_ASSERT(parse_json(response.body).has_value());
    // Clients choose field names, so the error response must not be much larger than the request.
    FOOTNOTE_ASSERT(response.body.size() <= 24 * size + 512);
    return 0;
  }
  FOOTNOTE_ASSERT(question->conversation.empty() || is_chat_id(question->conversation));
  FOOTNOTE_ASSERT(question->sent_id.empty() || is_chat_id(question->sent_id));
  FOOTNOTE_ASSERT(!question->corpus_names.empty());
  for (const std::string& name : question->corpus_names) FOOTNOTE_ASSERT(is_valid_utf8(name));
  if (question->regenerate && question->text.empty()) return 0;  // the store has it
  FOOTNOTE_ASSERT(is_valid_utf8(question->text) && !trim(question->text).empty());
  FOOTNOTE_ASSERT(count_code_points(question->text) <= retrieve::kQuestionCharactersMax);
  const JsonObject plain{{"question", question->text}, {"project_key", question->corpus_names.front()}};
  const auto again = api::parse_kb_question({.body = to_text(plain)});
  FOOTNOTE_ASSERT(again && again->text == question->text && again->corpus_names.front() == question->corpus_names.front());
  return 0;
}
