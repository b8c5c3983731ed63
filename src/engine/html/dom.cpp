#include "engine/html/dom.h"

#include <libxml/SAX2.h>

#include <bit>
#include <mutex>
#include <new>

#include "base/call_ended.h"
#include "engine/html/extract.h"

namespace footnote::html {

namespace {

/// Elements and pieces of text between two checks of the call: some milliseconds.
constexpr std::size_t kPiecesBetweenChecks = 4096;

/// Follows the parser: stops it when the call ends, and notes when memory runs out.
class Watch {
 public:
  Watch(htmlParserCtxt* parser, const CallContext& call) : parser_(parser), call_(call) { xmlSetStructuredErrorFunc(this, &on_error); }
  ~Watch() { xmlSetStructuredErrorFunc(nullptr, nullptr); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void see_piece() noexcept {
    const bool ended = ++pieces_ % kPiecesBetweenChecks == 0 && has_ended(call_);
    if (ended || out_of_memory_) xmlStopParser(parser_);
  }
  bool out_of_memory() const { return out_of_memory_; }

 private:
  static void on_error(void* self, xmlError* error) {
    if (error->code != XML_ERR_NO_MEMORY) return;
    auto& watch = *static_cast<Watch*>(self);
    watch.out_of_memory_ = true;
    // Stop the parser: it would wait for input that never comes. For errors of other domains it may still be using its input, so leave it.
    if (error->domain == XML_FROM_PARSER || error->domain == XML_FROM_HTML) xmlStopParser(watch.parser_);
  }

  htmlParserCtxt* const parser_;
  const CallContext& call_;
  std::size_t pieces_ = 0;
  bool out_of_memory_ = false;
};

// Called by the parser in place of its own functions, which they call.
void start_element(void* parser, const xmlChar* name, const xmlChar** attributes) {
  auto* const context = static_cast<htmlParserCtxt*>(parser);
  xmlSAX2StartElement(parser, name, attributes);
  static_cast<Watch*>(context->_private)->see_piece();
}

void add_text(void* parser, const xmlChar* text, int bytes) {
  auto* const context = static_cast<htmlParserCtxt*>(parser);
  // Without this option, libxml2 treats a text of 10 MB as an out-of-memory error. Our own limit is kInputBytesMax. Set it only here:
  // elsewhere it would also lift the limit on depth.
  context->options |= XML_PARSE_HUGE;
  xmlSAX2Characters(parser, text, bytes);
  context->options &= ~XML_PARSE_HUGE;
  static_cast<Watch*>(context->_private)->see_piece();
}

struct FreeContext {
  void operator()(htmlParserCtxt* context) const { htmlFreeParserCtxt(context); }
};

std::string_view view(const xmlChar* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

const xmlNode* child_named(const xmlNode* parent, std::string_view name) {
  for (const xmlNode* child = parent == nullptr ? nullptr : parent->children; child != nullptr; child = child->next) {
    if (name_of(child) == name) return child;
  }
  return nullptr;
}

// The parser limits the depth to kDepthMax, which bounds this recursion.
void append_raw_text(const xmlNode* node, std::string& out) {
  out += text_of(node);
  if (node->type != XML_ELEMENT_NODE) return;
  if (name_of(node) == "br") out += '\n';
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) append_raw_text(child, out);
}

/// Stores the number in `_private`, which libxml2 leaves to its users.
void number_elements(xmlNode* node, std::size_t& next) {
  for (; node != nullptr; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    node->_private = std::bit_cast<void*>(next++);
    number_elements(node->children, next);
  }
}

}  // namespace

Result<Dom> Dom::parse(std::string_view html, const CallContext& call) {
  if (html.empty()) return Dom{};
  static std::once_flag initialised;
  std::call_once(initialised, [] { xmlInitParser(); });
  const std::unique_ptr<htmlParserCtxt, FreeContext> context(htmlNewParserCtxt());
  if (context == nullptr) throw std::bad_alloc();
  Watch watch(context.get(), call);
  context->_private = &watch;
  context->sax->startElement = &start_element;
  context->sax->characters = &add_text;
  // IGNORE_ENC: the bytes are UTF-8 already, whatever a <meta> says.
  constexpr int kOptions =
      HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC | HTML_PARSE_COMPACT;
  Dom dom;
  dom.document_.reset(htmlCtxtReadMemory(context.get(), html.data(), static_cast<int>(html.size()), nullptr, "UTF-8", kOptions));
  // Without this check, a page for which memory ran out would look empty or truncated.
  if (watch.out_of_memory() || dom.document_ == nullptr) throw std::bad_alloc();
  if (context->errNo == XML_ERR_USER_STOP) FOOTNOTE_CHECK(call.check());
  // The parser stops at its own depth limit (256); the tree built so far is complete.
  dom.cut_ = context->disableSAX != 0;
  xmlNode* root = xmlDocGetRootElement(dom.document_.get());
  number_elements(root, dom.element_count_);
  dom.root_ = root;
  dom.head_ = child_named(dom.root_, "head");
  dom.body_ = child_named(dom.root_, "body");
  if (dom.body_ == nullptr) dom.body_ = dom.root_;
  return dom;
}

std::string_view name_of(const xmlNode* node) {
  return node != nullptr && node->type == XML_ELEMENT_NODE ? view(node->name) : std::string_view();
}

int line_of(const xmlNode* element) { return std::max<int>(1, element->line); }

std::size_t ordinal_of(const xmlNode* element) { return reinterpret_cast<std::size_t>(element->_private); }

std::string_view text_of(const xmlNode* node) {
  const bool is_text = node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
  return is_text ? view(node->content) : std::string_view();
}

std::string_view attribute(const xmlNode* node, const char* name) {
  if (node->type != XML_ELEMENT_NODE) return {};
  for (const xmlAttr* found = node->properties; found != nullptr; found = found->next) {
    if (view(found->name) == name) return found->children == nullptr ? std::string_view() : view(found->children->content);
  }
  return {};
}

bool has_attribute(const xmlNode* node, const char* name) {
  if (node->type != XML_ELEMENT_NODE) return false;
  for (const xmlAttr* found = node->properties; found != nullptr; found = found->next) {
    if (view(found->name) == name) return true;
  }
  return false;
}

std::string raw_text(const xmlNode* node) {
  std::string out;
  append_raw_text(node, out);
  return out;
}

}  // namespace footnote::html
