#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote::api {

/// The parts of one body.
inline constexpr std::size_t kMultipartPartsMax = 200;
/// The head of one part.
inline constexpr std::size_t kMultipartHeadBytesMax = 8u << 10;
inline constexpr std::size_t kMultipartBoundaryBytesMax = 70;

/// What a part says about itself. Texts are as sent, repaired to UTF-8.
struct PartHead {
  std::string name;
  std::string file_name;  ///< Empty: a plain field.
  std::string media_type;
};

/// The boundary of a "multipart/form-data" content type. kUnsupported: another type; kInvalidArgument: no valid boundary.
Result<std::string> multipart_boundary(std::string_view content_type);

/// Reads a multipart/form-data body piece by piece, in bounded memory: a part's bytes are passed on as they come. Not thread-safe.
class MultipartParser {
 public:
  struct Events {
    std::function<Result<void>(const PartHead&)> begin;
    std::function<Result<void>(std::string_view bytes)> data;
    std::function<Result<void>()> end;
  };

  /// `boundary` from multipart_boundary().
  MultipartParser(std::string_view boundary, Events events);

  /// kInvalidArgument: malformed. kTooLarge: beyond a limit above. Errors of the events end the parsing.
  Result<void> feed(std::string_view bytes);
  /// After the last byte. kInvalidArgument: the body ends too early.
  Result<void> finish() const;

 private:
  enum class State { kPreamble, kAfterBoundary, kHead, kData, kDone };
  /// Takes one step; false: more bytes are needed.
  Result<bool> step();
  Result<bool> find_part();
  Result<bool> after_boundary();
  Result<bool> read_head();
  Result<bool> read_data();

  const std::string delimiter_;  ///< CR LF "--" boundary
  const Events events_;
  State state_ = State::kPreamble;
  std::size_t parts_ = 0;
  std::string buffer_ = "\r\n";  ///< The first boundary needs no line end before it.
};

}  // namespace footnote::api
