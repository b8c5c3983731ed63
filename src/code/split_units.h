#pragma once

#include "code/code_file.h"
#include "engine/syntax/tree.h"

namespace footnote::code {

/// Splits units that are longer than kChunkBytesMax: code where a statement begins, prose between paragraphs with an overlap, either of
/// them between lines where there is no such place. Parts keep the symbol; only the first has the references. `root` may be null.
void split_long_units(syntax::Node root, CodeFile& file);

}  // namespace footnote::code
