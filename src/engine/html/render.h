#pragma once

#include "engine/html/extract.h"
#include "engine/html/region.h"

namespace footnote::html {

/// Renders the parts of the element that `regions` keeps into page.text and page.blocks.
void render(const xmlNode* element, const RegionFinder& regions, Page& page);

/// The element's text on one line, white space collapsed.
std::string inline_text(const xmlNode* element, const RegionFinder& regions);

}  // namespace footnote::html
