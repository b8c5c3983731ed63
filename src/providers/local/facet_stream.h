#pragma once

#include "base/byte_stream.h"
#include "providers/local/document_table.h"

namespace footnote {

/// The binary form of what filters look at.
Result<void> write_facets(ByteSink& sink, const DocumentFacets& facets);
/// kCorrupted: not what write_facets() wrote.
Result<DocumentFacets> read_facets(ByteSource& source);

}  // namespace footnote
