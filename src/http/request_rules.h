#pragma once

#include <optional>
#include <string_view>

#include "http/message.h"
#include "http/refusal.h"

// Rules that must be applied identically by everyone who reads a request: a proxy in front of the server, the server's guard, its handlers.
// Internal to this directory: include only from its .cpp files. No I/O.
namespace footnote::http {

/// True if a field of a well-formed head continues on a second line (obsolete line folding). A reader that does not join such lines sees an
/// extra field.
bool has_folded_line(std::string_view head);

/// Validates a head before it is used. 400: a duplicate of a field that decides the target, the sender or the length of a request; HTTP/1.1
/// without Host; a Host that is not an authority; an ambiguous body length. 501: a transfer coding before "chunked". 417: an expectation
/// other than 100-continue.
std::optional<Refusal> check_head(const Headers& headers, bool http_1_0);

/// Leaves exactly one "host" field, the request's target (RFC 9112, 3.2.2): `authority` if the target was an absolute URL, else the Host
/// field, else (HTTP/1.0) an empty text. 400 if both are given and differ. REQUIRES: check_head found nothing.
std::optional<Refusal> settle_host(std::string_view authority, Headers& headers);

}  // namespace footnote::http
