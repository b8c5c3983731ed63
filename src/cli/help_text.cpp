#include "cli/help_text.h"

#include <array>
#include <utility>

#include "cli/command_line.h"

#ifndef FOOTNOTE_VERSION
#define FOOTNOTE_VERSION "development"
#endif

namespace footnote::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 23> kFooters{{
    {"",
     R"(Examples:
  footnote ingest ~/handbook                    read a folder (again: only what changed)
  footnote ask "How long is parental leave?"    a cited answer, or a refusal
  footnote search "expense limit" --explain     why a passage was found
  footnote trace turn_...                       how an answer was found
  footnote serve                                http://127.0.0.1:7700
  footnote doctor                               what is wrong, and how to fix it

Exit codes:
    0  done
    1  failed
    2  the command line or a setting is wrong
    3  refused: the documents do not answer the question (ask)
    4  done, but some files could not be read (ingest)
  130  interrupted

Settings come from footnote.toml, .env, the environment and flags; see `footnote config`.)"},
    {"serve",
     R"(Examples:
  footnote serve                          http://127.0.0.1:7700, data in ./footnote-data
  footnote serve --port 8080 --data /var/lib/footnote
  LLM_BASE_URL=http://127.0.0.1:11434/v1 LLM_MODEL=qwen2.5 footnote serve

The server listens on loopback addresses only, until there is an API key (`footnote keys create`). SIGTERM and Ctrl-C let running answers
finish (server.drain); a second one stops it at once. While it runs, other commands on the same data folder go through it. Only `eval` of
your own questions, `bench index` and `restore` need exclusive access: stop the server, or use a copy (`footnote snapshot`, `restore`).)"},
    {"ingest",
     R"(Examples:
  footnote ingest ~/handbook                    every document below it: PDF, office files, HTML, Markdown ...
  footnote ingest notes.md faq.html             single files
  footnote ingest docs --corpus product         into another corpus
  footnote ingest docs --json | jq -r .path     what was committed, as it happens
  footnote ingest docs --watch                  and go on: changes are found within a second or two
  footnote ingest docs --profile proxy          windows of 800 characters that overlap by 100, for the retrieval proxy

A second run embeds only what changed and removes documents whose file is gone. Each document that can't be read is
named with the reason; the others are still read, and the exit code is 4. Images, styles and other files that are no
documents are counted in one line. Skipped: hidden files, what .gitignore and
.footnoteignore exclude, files named like credentials (id_rsa, *.pem, credentials.txt), and passages that contain
passwords, tokens or private keys; those are counted by kind.)"},
    {"ask",
     R"(Examples:
  footnote ask "How many days of parental leave do I get?"
  footnote ask --corpus product how do I reset the device
  footnote ask "Who approves travel?" --json | jq .citations
  footnote ask "Who approves travel?" --filter path_globs='policies/**' --filter date_from=2026-01-01

Without LLM_BASE_URL the answer quotes your documents word for word. Exit code 3 means: not in the documents.)"},
    {"search",
     R"(Examples:
  footnote search "parental leave"
  footnote search "parental leave" --explain    every stage's score, the gate's verdict, times
  footnote search -n 20 "vpn" --json | jq -r '.hits[].source_path'
  footnote search "vpn" --filter tags=ops --filter 'path_globs=!drafts/**'

Filters, as over HTTP: doc_ids, source_paths, tags, path_globs, source_types, canonical_types, media_types, languages, statuses,
evidence_tiers, acl_labels (repeat a name to allow several values), date_from, date_to, evidence_tier_min. Documents with labels are found
only with --acl-label.)"},
    {"eval",
     R"(Examples:
  footnote eval data/scifact                                     retrieval, stage by stage
  footnote eval data/scifact --stages keyword,vector --limit 100
  footnote eval data/scifact --save before.json                  save the results; change something, then
  footnote eval data/scifact --against before.json               what is better or worse, and whether that is significant
  footnote eval data/scifact --stages answer --foreign data/cisi complete answers: answered, refused
  footnote eval data/scifact --stages answer --gate 34           the same with another threshold of the gate
  footnote eval my-questions.jsonl --corpus product              your own questions about your own corpus
  footnote eval squad.jsonl --json | jq '.stages[0].f1'          answers found in a given context
  footnote eval claims.jsonl                                     the check of citations
  footnote eval eval/realdocs --documents DOCS --half tune       complete answers about documents: right, wrong, refused

The format of a set decides what is measured: docs/evaluation.md. Every document is embedded once and cached; a second run
embeds nothing. No question is stored. Your own questions need exclusive access to the data folder: while a server runs, use a
copy (`footnote snapshot`, then `footnote restore --data COPY`).)"},
    {"calibrate",
     R"(Examples:
  footnote calibrate                        the configured corpus; about 1 in 20 foreign questions may be answered
  footnote calibrate product --rate 0.01    stricter: more questions are refused, including some that the corpus covers
  footnote calibrate product --show         how the gate is set now, and by what; changes nothing
  footnote calibrate product --clear        return to the general threshold

It searches for questions made from the corpus's own texts, for questions from other domains, and for questions made from the workspace's
other corpora. Half of them set the threshold, the other half measure it. No question is stored. The threshold is stored with the corpus
and valid as long as the models stay the same; run it again after many documents were added. A running server does the work and keeps
answering.)"},
    {"bench",
     R"(Examples:
  footnote bench encoder                                         milliseconds and tokens per second for three shapes
  FOOTNOTE_CPU=avx2 footnote bench encoder --threads 1 --shape 8x256
  footnote bench encoder --json --seconds 1
  footnote bench index --vectors rows.f32 --queries queries.f32                     times and recall by number of rows and by filter
  footnote bench index --texts passages.jsonl --questions questions.jsonl
  footnote bench index --fill --texts passages.jsonl --data /tmp/many               an empty corpus gets the passages
  footnote bench index --retrieve --questions questions.jsonl --data /tmp/many --threads 1

--fill and --retrieve need the data folder without a server. Comparisons with other encoders and indexes on the same weights, vectors and
texts: bench/peers/README.md.)"},
    {"trace",
     R"(Examples:
  footnote trace turn_8JxKq0fWbXr2mVtYpLd3Zs       bars for the stages, every candidate with its scores
  footnote trace turn_8JxKq0fWbXr2mVtYpLd3Zs --json | jq '.candidates[] | select(.cut == null)'

`footnote ask` ends with the turn's id; --json has it as .meta.turn_id. A trace is stored as long as its turn.)"},
    {"fetch",
     R"(Examples:
  footnote fetch https://docs.example.com/install            the page's text, without its navigation
  footnote fetch https://docs.example.com/install --store web

Only the public internet is fetched from; web.allow opens addresses of your own network (docs/web.md).)"},
    {"documents",
     R"(Examples:
  footnote documents
  footnote documents --corpus product --json | jq -r .path)"},
    {"sources",
     R"(Examples:
  footnote sources add /srv/docs --watch            a folder of the server, synced whenever it changes
  footnote sources add /srv/wiki --every 1h --corpus wiki
  footnote sources list
  footnote sources resync 3
  footnote sources remove 3                         with its documents

The server reads only folders below those that sources.folders names. `footnote ingest` needs no such setting: it reads the files itself
and sends them.)"},
    {"jobs",
     R"(Examples:
  footnote jobs list
  footnote jobs follow 12
  footnote jobs cancel 12)"},
    {"mcp",
     R"(Examples:
  footnote mcp --data ~/footnote-data           what a coding agent starts; docs/project-memory.md has the lines for common ones

One JSON message per line, until standard input ends. If a server holds the data folder, messages go through it. Projects are added with
POST /api/projects.)"},
    {"keys",
     R"(Examples:
  footnote keys create --name ci --scope ingest --expires 90d
  KEY=$(footnote keys create --name site --scope read --per-minute 120)
  footnote keys list
  footnote keys rotate 3 --grace 2h        both secrets work for two hours
  footnote keys revoke 3

Scopes: read asks and searches, ingest adds and removes documents, admin does both and manages keys, visitor is for
a site's visitors. As soon as there is a key, every caller of the server needs one. Commands on the same data folder
need none: whoever can read the folder owns it.)"},
    {"workspaces",
     R"(Examples:
  footnote workspaces create acme
  footnote ingest docs --workspace acme
  footnote keys create --workspace acme --name acme-app --scope read)"},
    {"models",
     R"(Examples:
  footnote models list                                    what is installed, and what is in use
  footnote models add ~/Downloads/bge-small-en-v1.5       a folder with config.json, model.safetensors and a tokenizer
  footnote models verify && echo all well                 checks every byte; exit code 1 if something is wrong
  footnote models info all-MiniLM-L6-v2 --json | jq .window_tokens

Models are searched in ./.deps/models, ../../.deps/models relative to the program and ~/.local/share/footnote/models, or, if it is
set, only in FOOTNOTE_MODELS (--models). models.name (MODEL_NAME) selects the embedder, reranker.model the reranker.)"},
    {"doctor",
     R"(Examples:
  footnote doctor
  footnote doctor --json | jq '.checks[] | select(.status != "ok")'

The exit code is 1 if something is broken. A running server checks its data folder itself and keeps answering.)"},
    {"rebuild-index",
     R"(Examples:
  footnote rebuild-index                                     all corpora of the workspace
  MODEL_NAME=bge-small-en-v1.5 footnote rebuild-index docs   embed the corpus again with another model

Indexes are caches of the store; their files save time at start. A damaged or outdated index is detected and rebuilt
automatically; this command does it on demand. If you name a corpus:
- Embedded with another model than the configured one, it is embedded again. It keeps its old vectors until all new ones
  are stored and then switches in one step. After an interruption the next run continues.
- Embedded with the configured model, it keeps its vectors. Token codes in another format than late.codes are recomputed.
A running server does the work and keeps answering.)"},
    {"snapshot",
     R"(Examples:
  footnote snapshot /backups/monday.footnote
  footnote restore /backups/monday.footnote --data /srv/footnote

A snapshot contains documents, passages, vectors, points, notes, turns, keys and workspaces as of one moment, with a
checksum for every piece. The server can serve and write meanwhile. Settings, models and index files are not included; the
first start rebuilds the indexes.)"},
    {"restore",
     R"(Examples:
  footnote restore /backups/monday.footnote --data /srv/footnote

The data folder must be empty or not exist. Everything is checked before it counts as restored: after an error or an
interruption the folder is empty again.)"},
    {"config",
     R"(Examples:
  footnote config
  FOOTNOTE_PORT=8080 footnote config --json | jq '.settings[] | select(.origin != "default")')"},
    {"completion",
     R"(Examples:
  source <(footnote completion bash)
  footnote completion zsh > "${fpath[1]}/_footnote"
  footnote completion fish > ~/.config/fish/completions/footnote.fish)"},
}};

}  // namespace

std::string_view help_footer(std::string_view command) {
  for (const auto& [name, text] : kFooters) {
    if (name == command) return text;
  }
  return {};
}

std::string_view version() { return FOOTNOTE_VERSION; }

}  // namespace footnote::cli
