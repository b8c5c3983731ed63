#pragma once

#include <optional>
#include <string_view>

#include "http/message.h"
#include "http/refusal.h"

// Rules on which two readers of the same request must not differ: a proxy in front of the server, the server's guard,
// its handlers. For .cpp files of this folder only. No I/O.
namespace footnote::http {

/// True when a field of a well-formed head goes on on a second line. Such lines were joined once; a reader that does not
/// join them sees a field of its own.
bool has_folded_line(std::string_view head);

/// What must hold before a head is looked into. 400: a field comes twice that decides something (whom the request is for,
/// who sent it, how long it is), HTTP/1.1 without a Host, a Host that is no authority, a body whose end is in doubt.
/// 501: a transfer coding before "chunked". 417: an expectation other than 100-continue.
std::optional<Refusal> check_head(const Headers& headers, bool http_1_0);

/// Leaves exactly one field "host", the one that the request is for (RFC 9112, 3.2.2): `authority`, where the target was
/// an absolute URL, else the Host field, else (HTTP/1.0) an empty text. 400 when both are given and differ.
/// REQUIRES: check_head found nothing.
std::optional<Refusal> settle_host(std::string_view authority, Headers& headers);

}  // namespace footnote::http
