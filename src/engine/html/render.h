#pragma once

#include "engine/html/extract.h"
#include "engine/html/region.h"

namespace footnote::html {

/// Writes what `regions` keeps of the element into page.text and page.blocks.
void render(const xmlNode* element, const RegionFinder& regions, Page& page);

/// The element's text in one line, white space folded.
std::string inline_text(const xmlNode* element, const RegionFinder& regions);

}  // namespace footnote::html
