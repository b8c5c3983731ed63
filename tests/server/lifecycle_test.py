#!/usr/bin/env python3
"""Tests the real binary: filters in every API, and rebuilding indexes, also with another model.

usage: lifecycle_test.py --binary FOOTNOTE
The models are tiny; their quality does not matter here.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import unittest

import storage_test
from storage_test import document
import tiny_model

OTHER = "other"


class Case(storage_test.Case):
    def setUp(self):
        super().setUp()
        tiny_model.write(self.work / "models", OTHER, seed=2)

    def footnote(self, *words, code=0, model=tiny_model.NAME):
        done = subprocess.run([storage_test.OPTIONS.binary, *map(str, words), "--data", str(self.data)], capture_output=True, text=True,
                              timeout=120, env={**self.environment, "MODEL_NAME": model})
        self.assertEqual(done.returncode, code, done)
        return done

    def send(self, server, method, path, body=None, key=None):
        request = storage_test.urllib.request.Request(server.url + path, json.dumps(body).encode() if body is not None else None,
                                                      {"content-type": "application/json"}, method=method)
        if key:
            request.add_header("authorization", f"Bearer {key}")
        try:
            with storage_test.urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except storage_test.urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.loads(refused.read())

    def found(self, server, filters, labels=None, key=None):
        body = {"query": "lantern harbour", "limit": 50, "filters": filters, **({"acl_labels": labels} if labels else {})}
        status, answer = self.send(server, "POST", "/api/search", body, key)
        self.assertEqual(status, 200, answer)
        return sorted({hit["source_path"] for hit in answer["hits"]})


class Filters(Case):
    def fill(self, server):
        documents = [
            {**document("docs/a.md", 30), "tags": ["ops"], "evidence_tier": "official", "updated_at": "2026-01-10"},
            {**document("docs/deep/b.md", 30), "tags": ["ops", "night"], "evidence_tier": "blog", "language": "en", "updated_at": "2026-02-10"},
            {**document("notes/c.md", 30), "status": "review"},
            {**document("secret/d.md", 30), "acl_labels": ["hr", "board"]},
        ]
        status, body = self.ingest(server, *documents)
        self.assertEqual(status, 200, body)

    def test_each_filter_on_each_door(self):
        server = self.serve()
        self.fill(server)
        a, b, c = "docs/a.md", "docs/deep/b.md", "notes/c.md"
        cases = [
            ({}, [a, b, c]),
            ({"tags": ["ops"]}, [a, b]),
            ({"path_globs": ["docs/**/*.md"]}, [a, b]),
            ({"path_globs": ["docs/*"]}, [a]),
            ({"path_globs": ["!docs/deep/"]}, [a, c]),
            ({"evidence_tier_min": "preprint"}, [a]),
            ({"evidence_tiers": ["blog"]}, [b]),
            ({"date_from": "2026-01-01", "date_to": "2026-01-10"}, [a]),
            ({"date_from": "2026-03-01"}, [c]),
            ({"statuses": ["review"]}, [c]),
            ({"source_paths": [a, c]}, [a, c]),
            ({"source_types": ["doc"], "tags": ["night"]}, [b]),
            ({"source_types": ["code"]}, []),
            ({"project_keys": ["memory"], "tags": ["night"]}, [b]),
        ]
        for filters, expected in cases:
            self.assertEqual(self.found(server, filters), expected, filters)
            status, body = self.call(server, "/api/kb/chat", {"question": "lantern harbour", "filters": filters})
            self.assertEqual(status, 200, body)
            shown = {block["source_path"] for block in body["citations"] + body["meta"].get("nearest", [])}
            self.assertLessEqual(shown, set(expected), filters)
        for filters, field in (({"tagz": ["a"]}, "filters.tagz"), ({"date_from": "soon"}, "filters.date_from")):
            for path, body in (("/api/search", {"query": "x"}), ("/api/kb/chat", {"question": "x"}), ("/api/kb/chat/stream", {"question": "x"})):
                status, answer = self.call(server, path, {**body, "filters": filters})
                self.assertEqual((status, answer["error"]["field"]), (422, field))

        # The same on the command line, with and without the server.
        for _ in range(2):
            run = self.footnote("search", "lantern harbour", "--json", "--filter", "path_globs=docs/**", "--filter", "tags=night")
            self.assertEqual([hit["source_path"] for hit in json.loads(run.stdout)["hits"]], [b])
            self.assertIn("tagz", self.footnote("search", "lantern", "--filter", "tagz=a", code=1).stderr)
            self.assertIn("NAME=VALUE", self.footnote("ask", "lantern", "--filter", "tags", code=1).stderr)
            self.assertIn("secret/d.md", self.footnote("search", "lantern harbour", "--json", "--acl-label", "hr").stdout)
            self.assertNotIn("secret/d.md", self.footnote("search", "lantern harbour", "--json").stdout)
            server.__exit__(None, None, None)

    def test_labelled_documents_are_found_only_with_a_label(self):
        self.serve().__exit__(None, None, None)
        keys = {scope: self.footnote("keys", "create", "--name", scope, "--scope", scope).stdout.strip() for scope in ("read", "admin")}
        server = self.serve()
        body = {"documents": [{**document("open.md", 30)}, {**document("secret.md", 30), "acl_labels": ["hr"]}]}
        self.assertEqual(self.send(server, "POST", "/api/kb/ingest", body, keys["admin"])[0], 200)
        for key in keys.values():
            self.assertEqual(self.found(server, {}, key=key), ["open.md"])
            self.assertEqual(self.found(server, {"acl_labels": ["hr"]}, key=key), [], "asking for a label gives none")
        self.assertEqual(self.found(server, {}, key=keys["admin"], labels=["hr"]), ["open.md", "secret.md"])
        self.assertEqual(self.found(server, {"acl_labels": ["hr"]}, key=keys["admin"], labels=["hr"]), ["secret.md"])
        self.assertEqual(self.found(server, {}, key=keys["admin"], labels=["sales"]), ["open.md"])
        status, answer = self.send(server, "POST", "/api/search", {"query": "x", "acl_labels": ["hr"]}, keys["read"])
        self.assertEqual((status, answer["error"]["field"]), (403, "acl_labels"))
        previews = {scope: [self.send(server, "GET", f"/api/kb/documents/{id}/preview", None, key)[0] for id in (1, 2)]
                    for scope, key in keys.items()}
        self.assertEqual(previews, {"read": [200, 404], "admin": [200, 200]})
        _, answer = self.send(server, "POST", "/api/kb/chat", {"question": "Where is the lantern of the harbour?", "acl_labels": ["hr"]}, keys["admin"])
        traces = {scope: self.send(server, "GET", f"/api/turns/{answer['meta']['turn_id']}/trace", None, key)[1] for scope, key in keys.items()}
        self.assertIn("secret.md", json.dumps(traces["admin"]))
        self.assertNotIn("secret", json.dumps(traces["read"]), "nor its title")
        self.assertIn("open.md", json.dumps(traces["read"]))
        scores = {scope: [candidate["score"] for candidate in trace["candidates"]] for scope, trace in traces.items()}
        self.assertEqual(scores["read"], scores["admin"], "that something was found is no secret")


class Rebuild(Case):
    def setUp(self):
        super().setUp()
        server = self.serve()
        self.assertEqual(self.ingest(server, *[document(f"d{i}.md", 60) for i in range(20)])[0], 200)
        server.__exit__(None, None, None)

    def hits(self, model):
        return [(hit["chunk_id"], hit["score"]) for hit in json.loads(self.footnote("search", "lantern", "--json", model=model).stdout)["hits"]]

    def wait(self, server):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            status, body = self.call(server, "/api/admin/rebuild")
            self.assertEqual(status, 200, body)
            if body["state"] != "running":
                return body
            time.sleep(0.05)
        self.fail("the rebuild did not end")

    def test_another_model_is_refused_until_the_corpus_is_embedded_anew(self):
        before = self.hits(tiny_model.NAME)
        refused = self.footnote("search", "lantern", code=1, model=OTHER)
        self.assertIn("footnote rebuild-index memory", refused.stderr)
        (line,) = self.footnote("rebuild-index", "memory", "--json", model=OTHER).stdout.splitlines()
        self.assertEqual((json.loads(line)["model"], json.loads(line)["embedded"]), (OTHER, json.loads(line)["rows"]))
        self.assertNotEqual(self.hits(OTHER), before)
        self.assertIn("footnote rebuild-index memory", self.footnote("search", "lantern", code=1).stderr)
        self.assertEqual(json.loads(self.footnote("rebuild-index", "--json").stdout)["model"], OTHER, "unasked nothing is embedded")
        self.footnote("rebuild-index", "memory")
        self.assertEqual(self.hits(tiny_model.NAME), before)
        self.assertIn("nowhere", self.footnote("rebuild-index", "nowhere", code=1).stderr)

    def test_killed_at_any_moment_the_corpus_is_of_one_model_and_the_next_run_ends_it(self):
        before = self.hits(tiny_model.NAME)
        for pause in (0.0, 0.02, 0.05, 0.1, 0.15, 0.2):
            rebuild = subprocess.Popen([storage_test.OPTIONS.binary, "rebuild-index", "memory", "--data", str(self.data)],
                                       env={**self.environment, "MODEL_NAME": OTHER}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(pause)
            rebuild.kill()
            rebuild.wait()
            store = self.doctor("store")
            self.assertEqual(store["status"], "ok", store)
        self.footnote("rebuild-index", "memory", model=OTHER)
        self.assertNotEqual(self.hits(OTHER), before)
        self.footnote("search", "lantern", code=1)
        self.footnote("rebuild-index", "memory")
        self.assertEqual(self.hits(tiny_model.NAME), before)

    def test_a_server_embeds_beside_and_changes_over_at_its_next_start(self):
        server = self.serve()
        before = self.paths(server)
        status, body = self.call(server, "/api/admin/rebuild", {"corpus": "memory", "model": OTHER})
        self.assertEqual((status, body["model"]), (202, OTHER))
        self.assertEqual(self.paths(server), before, "the old space answers")
        body = self.wait(server)
        self.assertEqual((body["state"], body["done"]), ("ready", body["total"]))
        self.assertEqual(self.ingest(server, document("late.md", 60))[0], 200)
        self.assertEqual(self.paths(server), before | {"late.md"})
        server.__exit__(None, None, None)
        server = self.serve(MODEL_NAME=OTHER)
        self.assertEqual(self.paths(server), before | {"late.md"})
        self.assertEqual(self.call(server, "/api/corpora")[1]["corpora"][0]["model"], OTHER)

    def test_a_server_of_the_new_model_changes_over_at_once(self):
        server = self.serve(MODEL_NAME=OTHER)
        status, body = self.call(server, "/api/search", {"query": "lantern"})
        self.assertEqual(status, 409, body)
        self.assertIn("footnote rebuild-index memory", body["error"]["message"])
        self.assertEqual(self.ingest(server, document("late.md"))[0], 409)
        done = self.footnote("rebuild-index", "memory", model=OTHER)
        self.assertIn("chunks embedded by other", done.stdout)
        self.assertEqual(len(self.paths(server)), 20)

    def test_a_cancelled_rebuild_changes_nothing(self):
        server = self.serve()
        self.assertEqual(self.send(server, "DELETE", "/api/admin/rebuild")[0], 404)
        self.assertEqual(self.call(server, "/api/admin/rebuild", {"corpus": "memory", "model": OTHER})[0], 202)
        status, body = self.send(server, "DELETE", "/api/admin/rebuild")
        self.assertEqual((status, body["state"]), (200, "cancelled"))
        server.__exit__(None, None, None)
        self.assertIn("rebuild-index", self.footnote("search", "lantern", code=1, model=OTHER).stderr)

    def test_vectors_that_clients_gave_stay(self):
        collections = {"dot": {"size": 4, "distance": "Dot"}, "named": {"a": {"size": 4, "distance": "Cosine"}}, "empty": {"size": 4, "distance": "Euclid"}}
        server = self.serve()
        for name, vectors in collections.items():
            self.assertEqual(self.send(server, "PUT", f"/collections/{name}", {"vectors": vectors})[0], 200)
        for name in ("dot", "named"):
            vector = {"a": [1, 0, 0, 0]} if name == "named" else [1, 2, 3, 4]
            points = [{"id": 1, "vector": vector, "payload": {"text": "lantern"}}, {"id": 2, "vector": vector}]
            self.assertEqual(self.send(server, "PUT", f"/collections/{name}/points", {"points": points})[0], 200)

        def read(server):
            return [(self.send(server, "POST", f"/collections/{name}/points", {"ids": [1, 2], "with_vector": True})[1]["result"],
                     self.send(server, "GET", f"/collections/{name}")[1]["result"]["config"]) for name in collections]

        before = read(server)
        self.assertEqual(before[0][0][1]["vector"], [1, 2, 3, 4])
        for name in collections:
            for model in ({}, {"model": tiny_model.NAME}):
                self.assertEqual(self.call(server, "/api/admin/rebuild", {"corpus": name, **model})[0], 202)
                self.assertEqual(self.wait(server)["state"], "done", name)
        self.assertEqual(read(server), before)
        server.__exit__(None, None, None)
        for name in collections:
            self.assertEqual(self.doctor(f"corpus {name}")["status"], "ok", name)
            self.footnote("rebuild-index", name)
        server = self.serve()
        self.assertEqual(read(server), before)

    def test_the_same_model_makes_the_indexes_anew_while_they_answer(self):
        server = self.serve()
        before = self.paths(server)
        for wrong, status in (({"corpus": "nowhere"}, 404), ({"corpus": "memory", "model": "nothing"}, 409), ({"korpus": "memory"}, 422)):
            self.assertEqual(self.call(server, "/api/admin/rebuild", wrong)[0], status, wrong)
        self.assertEqual(self.call(server, "/api/admin/rebuild", {"corpus": "memory"})[0], 202)
        self.assertEqual(self.wait(server)["state"], "done")
        self.assertEqual(self.paths(server), before)
        self.assertEqual(self.ingest(server, document("late.md", 60))[0], 200)
        self.assertEqual(self.paths(server), before | {"late.md"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    storage_test.OPTIONS, rest = parser.parse_known_args()
    storage_test.OPTIONS.binary = os.path.abspath(storage_test.OPTIONS.binary)
    unittest.main(argv=[sys.argv[0], *rest])
