#pragma once

#include "base/byte_stream.h"
#include "providers/local/document_table.h"

namespace footnote {

/// Binary format of DocumentFacets.
Result<void> write_facets(ByteSink& sink, const DocumentFacets& facets);
/// kCorrupted: not written by write_facets().
Result<DocumentFacets> read_facets(ByteSource& source);

}  // namespace footnote
