#include "cli/help_text.h"

#include <array>
#include <utility>

#include "cli/command_line.h"

#ifndef FOOTNOTE_VERSION
#define FOOTNOTE_VERSION "development"
#endif

namespace footnote::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kFooters{{
    {"",
     R"(Examples:
  footnote ingest ~/handbook                    read a folder (again: only what changed)
  footnote ask "How long is parental leave?"    a cited answer, or a refusal
  footnote search "expense limit" --explain     why a passage was found
  footnote trace turn_...                       how an answer came about
  footnote serve                                http://127.0.0.1:7700
  footnote doctor                               what is wrong, and what to do

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
finish (server.drain); a second one ends it at once. While it runs, other commands on the same data folder go through it. Only `eval` of
your own questions, `bench index` and `restore` need the folder alone: stop the server, or use a copy (`footnote snapshot`, `restore`).)"},
    {"ingest",
     R"(Examples:
  footnote ingest ~/handbook                    every Markdown, text and HTML file below it
  footnote ingest notes.md faq.html             single files
  footnote ingest docs --corpus product         into a corpus of its own
  footnote ingest docs --json | jq -r .path     what was committed, as it happens
  footnote ingest docs --profile proxy          windows of 800 characters, 100 of them shared, for the retrieval proxy

A second run embeds only what changed and removes documents whose file is gone. Each file that can't be read is
named with the reason; the rest goes on and the exit code is 4. Left out: hidden files, what .gitignore and
.footnoteignore name, files named like credentials (id_rsa, *.pem, credentials.txt), and passages that hold
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
evidence_tiers, acl_labels (repeat for any of several), date_from, date_to, evidence_tier_min. Documents with labels are found
only with --acl-label.)"},
    {"eval",
     R"(Examples:
  footnote eval data/scifact                                     retrieval, stage by stage
  footnote eval data/scifact --stages keyword,vector --limit 100
  footnote eval data/scifact --save before.json                  keep it; then change something, and
  footnote eval data/scifact --against before.json               what became better or worse, and whether it is chance
  footnote eval data/scifact --stages answer --foreign data/cisi whole answers: answered, refused
  footnote eval data/scifact --stages answer --gate 34           the same with another threshold of the gate
  footnote eval my-questions.jsonl --corpus product              your own questions over your own corpus
  footnote eval squad.jsonl --json | jq '.stages[0].f1'          answers found in a given context
  footnote eval claims.jsonl                                     the check of citations
  footnote eval eval/realdocs --documents DOCS --half tune       whole answers about documents: right, wrong, refused

The form of a set says what is measured: docs/evaluation.md. Every document is embedded once and kept in the cache; a second run
embeds nothing. Nothing that is asked is stored. Your own questions need the data folder alone: beside a server, use a copy (`footnote
snapshot`, then `footnote restore --data COPY`).)"},
    {"calibrate",
     R"(Examples:
  footnote calibrate                        the configured corpus; about 1 in 20 foreign questions may be answered
  footnote calibrate product --rate 0.01    stricter: more questions are refused, some rightly asked ones too
  footnote calibrate product --clear        back to the general threshold

Questions made from the corpus's own texts, and questions of other domains and of the workspace's other corpora, are looked up; every
other one sets the threshold, the rest measure it. Nothing that is asked is stored. The threshold is kept with the corpus and holds as
long as the models stay the same; after much was ingested, run it again. A server that has the data folder does the work and goes on
answering.)"},
    {"bench",
     R"(Examples:
  footnote bench encoder                                         milliseconds and tokens a second, three shapes
  FOOTNOTE_CPU=avx2 footnote bench encoder --threads 1 --shape 8x256
  footnote bench encoder --json --seconds 1
  footnote bench index --vectors rows.f32 --queries queries.f32                     times and recall by number of rows and filter
  footnote bench index --texts passages.jsonl --questions questions.jsonl
  footnote bench index --fill --texts passages.jsonl --data /tmp/many               an empty corpus gets the passages
  footnote bench index --retrieve --questions questions.jsonl --data /tmp/many --threads 1

--fill and --retrieve need the data folder alone, without a server. Against other encoders and indexes on the same weights, vectors and
texts: bench/peers/README.md.)"},
    {"trace",
     R"(Examples:
  footnote trace turn_8JxKq0fWbXr2mVtYpLd3Zs       bars for the stages, every candidate with its scores
  footnote trace turn_8JxKq0fWbXr2mVtYpLd3Zs --json | jq '.candidates[] | select(.cut == null)'

`footnote ask` ends with the turn's id; --json has it as .meta.turn_id. A trace is kept as long as its turn.)"},
    {"documents",
     R"(Examples:
  footnote documents
  footnote documents --corpus product --json | jq -r .path)"},
    {"keys",
     R"(Examples:
  footnote keys create --name ci --scope ingest --expires 90d
  KEY=$(footnote keys create --name site --scope read --per-minute 120)
  footnote keys list
  footnote keys rotate 3 --grace 2h        both texts work for two hours
  footnote keys revoke 3

Scopes: read asks and searches, ingest adds and removes documents, admin does both and manages keys, visitor is for
a site's visitors. From the first key on every caller of the server needs one. Commands on the same data folder go on
without: whoever can read it owns it.)"},
    {"workspaces",
     R"(Examples:
  footnote workspaces create acme
  footnote ingest docs --workspace acme
  footnote keys create --workspace acme --name acme-app --scope read)"},
    {"models",
     R"(Examples:
  footnote models list                                    what is there, and what is in use
  footnote models add ~/Downloads/bge-small-en-v1.5       a folder with config.json, model.safetensors and a tokenizer
  footnote models verify && echo all well                 every byte against its checksum; 1 when something is wrong
  footnote models info all-MiniLM-L6-v2 --json | jq .window_tokens

Models are looked for in ./.deps/models, ../../.deps/models beside the program and ~/.local/share/footnote/models, or, when it is
set, in FOOTNOTE_MODELS (--models) alone. models.name (MODEL_NAME) says which one embeds, reranker.model which one reranks.)"},
    {"doctor",
     R"(Examples:
  footnote doctor
  footnote doctor --json | jq '.checks[] | select(.status != "ok")'

The exit code is 1 when something is broken. A server that has the data folder checks it while it goes on answering.)"},
    {"rebuild-index",
     R"(Examples:
  footnote rebuild-index                                     all corpora of the workspace
  MODEL_NAME=bge-small-en-v1.5 footnote rebuild-index docs   embed the corpus anew, by another model

Indexes are a cache of the store, kept in files that save time at start. One that is damaged or does not fit is
found and made anew by itself; this does it on demand. A corpus that is named and of another model than the configured one is
embedded anew:
it keeps its old vectors until all new ones are there and changes over in one step; after an interruption the next run goes
on where this one was. Of one that is named and of the configured model, token codes that late.codes has another form for by
now are made anew; its vectors stay. While a server has the data folder, it does the work and goes on answering.)"},
    {"snapshot",
     R"(Examples:
  footnote snapshot /backups/monday.footnote
  footnote restore /backups/monday.footnote --data /srv/footnote

It holds documents, passages, vectors, points, notes, turns, keys and workspaces as they were at one moment, with a
checksum on every piece. The server may go on serving and writing meanwhile. Settings and models are not in it, nor the
index files, which are made anew at the first start.)"},
    {"restore",
     R"(Examples:
  footnote restore /backups/monday.footnote --data /srv/footnote

The data folder must be empty or not there yet. Everything is checked before it counts as restored: after an error, or
when it is interrupted, the folder is as empty as before.)"},
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
