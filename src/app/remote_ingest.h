#pragma once

#include "app/commands.h"
#include "cli/ingest_output.h"
#include "cli/server_link.h"
#include "ingest/walk.h"

namespace footnote::app {

/// One call to the server carries at most this many documents and about this many bytes of them.
inline constexpr std::size_t kRemoteBatchDocumentsMax = 50;
inline constexpr std::size_t kRemoteBatchBytesMax = 4u << 20;

/// How the folders of the command are read.
ingest::WalkOptions walk_options_of(const cli::CommandContext& context, const cli::IngestCommand& command);

/// Reads files here and hands them to the server that holds the data folder, in batches. The server tells no
/// difference between added and updated documents (both count as updated) and deletes none.
Result<ingest::IngestReport> ingest_through_server(const cli::CommandContext& context, const cli::IngestCommand& command,
                                                   cli::ServerLink& server, cli::IngestOutput& output);

}  // namespace footnote::app
