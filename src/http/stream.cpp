#include "http/stream.h"

#include <utility>

namespace footnote::http {

namespace {

/// Appends `text` as lines that all start with `prefix`. LF, CR and CRLF end a line.
void append_lines(std::string& out, std::string_view prefix, std::string_view text) {
  while (true) {
    const std::size_t end = text.find_first_of("\r\n");
    out += prefix;
    out += text.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) return;
    const bool pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    text.remove_prefix(end + (pair ? 2 : 1));
  }
}

}  // namespace

Result<void> SseWriter::send(std::string_view data) {
  std::string frame;
  frame.reserve(data.size() + 8);
  append_lines(frame, "data: ", data);
  frame += '\n';
  return write(frame);
}

Result<void> SseWriter::send_with_id(std::uint64_t id, std::string_view data) {
  std::string frame = "id: " + std::to_string(id) + "\n";
  append_lines(frame, "data: ", data);
  frame += '\n';
  return write(frame);
}

Result<void> SseWriter::send_event(std::string_view name, std::string_view data) {
  std::string frame = "event: ";
  frame += name.substr(0, name.find_first_of("\r\n"));
  frame += '\n';
  append_lines(frame, "data: ", data);
  frame += '\n';
  return write(frame);
}

Result<void> SseWriter::comment(std::string_view text) {
  std::string frame;
  append_lines(frame, ": ", text);
  frame += '\n';
  return write(frame);
}

void RecordedStream::reply(Response response) {
  if (!sse_started_) response_ = std::move(response);
}

SseWriter& RecordedStream::start_sse(Headers extra) {
  sse_started_ = true;
  response_ = {};
  response_.headers = std::move(extra);
  response_.headers.set("content-type", "text/event-stream");
  return *this;
}

ByteWriter& RecordedStream::start_bytes(int status, Headers headers) {
  sse_started_ = true;
  response_ = {status, std::move(headers), {}};
  return *this;
}

void RecordedStream::relay(Client& client, ClientRequest request, std::unique_ptr<Relay> relay) {
  run_relay({}, client, std::move(request), *relay);
}

Result<void> RecordedStream::write(std::string_view frame) {
  if (failure_) return fail(*failure_, "the client disconnected");
  if (on_bytes_) return on_bytes_(frame);
  response_.body += frame;
  return {};
}

}  // namespace footnote::http
