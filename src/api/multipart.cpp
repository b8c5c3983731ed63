#include "api/multipart.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::api {
namespace {

std::unexpected<Error> malformed_body(std::string_view what) { return fail(ErrorCode::kInvalidArgument, "multipart body: {}", what); }

bool is_boundary_character(char c) {
  constexpr std::string_view kOthers = "'()+_,-./:=? ";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kOthers.find(c) != std::string_view::npos;
}

/// The value of a parameter: `form-data; name="a"; filename="b\"c"`. Browsers write a quote in a value as %22 or \".
std::optional<std::string> parameter(std::string_view header, std::string_view wanted) {
  std::size_t at = header.find(';');
  while (at != std::string_view::npos && at < header.size()) {
    ++at;
    while (at < header.size() && (header[at] == ' ' || header[at] == '\t')) ++at;
    const std::size_t equals = header.find_first_of("=;", at);
    if (equals == std::string_view::npos || header[equals] == ';') {
      at = equals;
      continue;
    }
    const std::string name = to_lower_ascii(trim(header.substr(at, equals - at)));
    std::string value;
    at = equals + 1;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size() && (header[at + 1] == '"' || header[at + 1] == '\\')) ++at;
        value.push_back(header[at]);
      }
      if (at >= header.size()) return std::nullopt;  // no closing quote
      at = header.find(';', at);
    } else {
      const std::size_t end = std::min(header.find(';', at), header.size());
      value = trim(header.substr(at, end - at));
      at = end;
    }
    if (name == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> multipart_boundary(std::string_view content_type) {
  const std::string type = to_lower_ascii(trim(content_type.substr(0, content_type.find(';'))));
  if (type != "multipart/form-data") return fail(ErrorCode::kUnsupported, "send the files as multipart/form-data");
  const auto boundary = parameter(content_type, "boundary");
  const bool valid = boundary && !boundary->empty() && boundary->size() <= kMultipartBoundaryBytesMax && boundary->back() != ' ' &&
                     std::ranges::all_of(*boundary, is_boundary_character);
  if (!valid) return malformed_body("its content type has no valid boundary");
  return *boundary;
}

MultipartParser::MultipartParser(std::string_view boundary, Events events)
    : delimiter_("\r\n--" + std::string(boundary)), events_(std::move(events)) {}

Result<void> MultipartParser::feed(std::string_view bytes) {
  // What is fed is taken in pieces, so that the buffer stays small whatever the caller's pieces are.
  constexpr std::size_t kPiece = 64u << 10;
  while (!bytes.empty() && state_ != State::kDone) {
    buffer_.append(bytes.substr(0, kPiece));
    bytes.remove_prefix(std::min(kPiece, bytes.size()));
    for (bool more = true; more;) {
      FOOTNOTE_TRY(more, step());
    }
  }
  return {};
}

Result<void> MultipartParser::finish() const {
  if (state_ != State::kDone) return malformed_body("it ends before its last boundary");
  return {};
}

Result<bool> MultipartParser::step() {
  switch (state_) {
    case State::kPreamble: return find_part();
    case State::kAfterBoundary: return after_boundary();
    case State::kHead: return read_head();
    case State::kData: return read_data();
    case State::kDone: return false;
  }
  return false;
}

Result<bool> MultipartParser::find_part() {
  const std::size_t at = buffer_.find(delimiter_);
  if (at == std::string::npos) {
    const std::size_t keep = std::min(buffer_.size(), delimiter_.size() - 1);
    buffer_.erase(0, buffer_.size() - keep);
    return false;
  }
  buffer_.erase(0, at + delimiter_.size());
  state_ = State::kAfterBoundary;
  return true;
}

Result<bool> MultipartParser::after_boundary() {
  if (buffer_.size() < 2) return false;
  if (buffer_.starts_with("--")) {
    state_ = State::kDone;
    buffer_.clear();
    return false;
  }
  const std::size_t text = buffer_.find_first_not_of(" \t");
  if (text == std::string::npos || buffer_.size() < text + 2) {
    if (buffer_.size() > kMultipartHeadBytesMax) return malformed_body("a boundary is followed by something else");
    return false;
  }
  if (buffer_.compare(text, 2, "\r\n") != 0) return malformed_body("a boundary is followed by something else");
  if (++parts_ > kMultipartPartsMax)
    return fail(ErrorCode::kTooLarge, "a body has at most {} parts; send the rest later", kMultipartPartsMax);
  // The line end stays: a part without a head has only the empty line.
  buffer_.erase(0, text);
  state_ = State::kHead;
  return true;
}

Result<bool> MultipartParser::read_head() {
  const std::size_t end = buffer_.find("\r\n\r\n");
  if (std::min(end, buffer_.size()) > kMultipartHeadBytesMax) {
    return fail(ErrorCode::kTooLarge, "the head of a part is longer than {} bytes", kMultipartHeadBytesMax);
  }
  if (end == std::string::npos) return false;
  PartHead head;
  const std::string lines = buffer_.substr(0, end);
  for (const std::string_view line : split(lines, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = to_lower_ascii(trim(line.substr(0, colon)));
    const std::string value = repair_utf8(trim(line.substr(colon + 1)));
    if (name == "content-type") head.media_type = value;
    if (name != "content-disposition") continue;
    head.name = parameter(value, "name").value_or("");
    head.file_name = parameter(value, "filename").value_or("");
  }
  buffer_.erase(0, end + 4);
  state_ = State::kData;
  FOOTNOTE_CHECK(events_.begin(head));
  return true;
}

Result<bool> MultipartParser::read_data() {
  const std::size_t at = buffer_.find(delimiter_);
  const std::size_t ready = at == std::string::npos ? buffer_.size() - std::min(buffer_.size(), delimiter_.size() - 1) : at;
  if (ready > 0) FOOTNOTE_CHECK(events_.data(std::string_view(buffer_).substr(0, ready)));
  buffer_.erase(0, ready);
  if (at == std::string::npos) return false;
  buffer_.erase(0, delimiter_.size());
  state_ = State::kAfterBoundary;
  FOOTNOTE_CHECK(events_.end());
  return true;
}

}  // namespace footnote::api
