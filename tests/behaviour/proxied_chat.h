#pragma once

#include <string>

#include "proxy/policy.h"
#include "world.h"

namespace footnote::behaviour {

/// A chat with a rag/ model whose model server is the world's model: the real policy decides, and the real relayed turn is stored. Prints
/// the result of the chat, the stored turn, and its gap. Checks that nothing is written to the store while the answer streams.
std::string run_proxied_chat(World& world, const proxy::Policy& policy, const std::string& question);

}  // namespace footnote::behaviour
