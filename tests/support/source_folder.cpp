#include "support/source_folder.h"

namespace footnote::test {

std::filesystem::path source_folder() { return FOOTNOTE_SOURCE_DIR; }

}  // namespace footnote::test
