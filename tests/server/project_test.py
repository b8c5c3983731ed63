#!/usr/bin/env python3
"""Tests project memory with the real binary: the Laravel application of the fixtures is indexed, asked and changed.

usage: project_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import json
import os
import pathlib
import shutil
import sys
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import ServerCase, wait_until  # noqa: E402

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "laravel"
# Found by its shape; no real key.
SECRET = "ghp_" + "u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8d"


class ProjectCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.code = tempfile.TemporaryDirectory(prefix="footnote-code-")
        cls.root = os.path.join(cls.code.name, "allowed", "shop")
        shutil.copytree(FIXTURE, cls.root)
        os.mkdir(os.path.join(cls.code.name, "outside"))
        cls.environment = {"FOOTNOTE_PROJECTS_ROOTS": os.path.join(cls.code.name, "allowed")}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.code.cleanup()

    def json(self, method, path, body=None):
        response, data = self.call(method, path, body)
        return response.status, json.loads(data)

    def indexed(self, slug):
        """The report of the project's index run, once it has ended."""
        self.assertTrue(wait_until(lambda: self.json("GET", f"/api/projects/{slug}")[1]["job"]["status"] in ("done", "failed"), 60))
        project = self.json("GET", f"/api/projects/{slug}")[1]
        self.assertEqual(project["job"]["status"], "done", project)
        return project["job"]["report"]

    def index(self, slug):
        status, body = self.post(f"/api/projects/{slug}/index-rag", {})
        self.assertEqual(status, 202, body)
        self.assertTrue(body["job"]["id"].startswith("job_"))
        return self.indexed(slug)

    def add(self, slug):
        status, body = self.post("/api/projects", {"slug": slug, "root": self.root})
        self.assertEqual(status, 201, body)
        return self.indexed(slug)

    def ask(self, slug, query, **options):
        status, body = self.post(f"/api/projects/{slug}/retrieve", {"query": query, **options})
        self.assertEqual(status, 200, body)
        return body

    def write(self, path, text):
        target = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        pathlib.Path(target).write_text(text)


class Projects(ProjectCase):
    def test_a_project_is_indexed_asked_and_deleted(self):
        report = self.add("shop")
        self.assertEqual(report["tables"], 6)
        self.assertEqual(report["problems"], [])
        _, project = self.json("GET", "/api/projects/shop")
        self.assertEqual((project["framework_detected"], project["language_detected"], project["status"]), ("laravel", "php", "ready"))

        found = self.ask("shop", "What controller serves route invoices.store and which model and table does it touch?")
        self.assertEqual(found["debug"]["strategy"], "route_walk")
        graph = [chunk["symbol"] for chunk in found["chunks"] if chunk["found_by"] == "graph"]
        self.assertEqual(graph[:2], ["invoices.store", "App\\Http\\Controllers\\InvoiceController::store"])
        self.assertEqual(graph[-2:], ["invoices", "invoice_lines"])
        method = found["chunks"][1]
        lines = pathlib.Path(self.root, method["path"]).read_text().splitlines()[method["first_line"] - 1:method["last_line"]]
        self.assertTrue(lines[0].strip().startswith("/**") and lines[-1].strip() == "}", lines)
        self.assertLessEqual(set(found["debug"]), {"strategy", "latency_ms", "total_candidates", "scores", "subject", "edges", "dropped"})
        self.assertEqual(set(found["debug"]["scores"]), {chunk["id"] for chunk in found["chunks"]})

        status, graph = self.json("GET", "/api/projects/shop/graph?symbol=" + urllib.parse.quote("clients") + "&hops=1")
        self.assertEqual(status, 200)
        names = {node["symbol"] for node in graph["nodes"]}
        self.assertIn("App\\Models\\Customer", names)
        status, body = self.json("GET", "/api/projects/shop/graph?symbol=InvoiceServise")
        self.assertEqual(status, 404)
        self.assertIn("InvoiceService", body["error"]["message"])

        status, files = self.json("GET", "/api/projects/shop/files?limit=5")
        self.assertEqual(len(files["files"]), 5)
        after = urllib.parse.quote(files["next"])
        _, rest = self.json("GET", "/api/projects/shop/files?after=" + after)
        self.assertNotIn(files["next"], [file["path"] for file in rest["files"]])

        self.assertEqual(self.json("DELETE", "/api/projects/shop")[0], 200)
        self.assertEqual(self.json("GET", "/api/projects/shop")[0], 404)
        self.assertEqual(self.post("/api/projects/shop/retrieve", {"query": "x"})[0], 404)

    def test_an_edit_embeds_one_chunk_and_is_visible(self):
        self.add("edited")
        report = self.index("edited")
        self.assertEqual((report["changed"], report["embedded"]), (0, 0))
        path = "app/Services/InvoiceService.php"
        before = pathlib.Path(self.root, path).read_text()
        try:
            self.write(path, before.replace("event(new", "logger('zanzibar'); event(new"))
            report = self.index("edited")
            self.assertEqual((report["changed"], report["embedded"]), (1, 1))
            found = self.ask("edited", "zanzibar", min_score=0)
            self.assertIn("App\\Services\\InvoiceService::create", [chunk["symbol"] for chunk in found["chunks"]])
        finally:
            self.write(path, before)

    def test_secrets_and_what_lies_outside_are_never_stored(self):
        outside = pathlib.Path(self.code.name, "outside", "secret.py")
        outside.write_text("def outside():\n    return 'canary-outside'\n")
        link = pathlib.Path(self.root, "link.py")
        link.symlink_to(outside)
        self.write("app/keys.php", f"<?php\nfunction f() {{ return '{SECRET}'; }}\nfunction g() {{ return 1; }}\n")
        try:
            report = self.add("guarded")
            self.assertEqual(report["secret_chunks"], 1)
            self.assertIn("link.py", [problem["path"] for problem in report["problems"]])
            found = self.ask("guarded", "what do f and g and outside return", top_k=100, min_score=0, context_tokens=1000000)
            text = json.dumps(found)
            self.assertNotIn(SECRET, text)
            self.assertNotIn("canary-outside", text)
        finally:
            link.unlink()
            os.remove(os.path.join(self.root, "app/keys.php"))
        for folder, _, names in os.walk(self.server.data):
            for name in names:
                self.assertNotIn(SECRET.encode(), pathlib.Path(folder, name).read_bytes(), name)

    def test_bad_input_is_refused_by_field(self):
        cases = [({"slug": "A b", "root": self.root}, "slug"), ({"root": self.root}, "slug"),
                 ({"slug": "x", "root": os.path.join(self.code.name, "outside")}, "root"),
                 ({"slug": "x", "root": os.path.join(self.root, "..", "..", "outside")}, "root"),
                 ({"slug": "x", "root": "/no/such/folder"}, "root"), ({"slug": "x", "other": 1}, "other")]
        for body, field in cases:
            with self.subTest(body=body):
                status, answer = self.post("/api/projects", body)
                self.assertEqual((status, answer["error"].get("field")), (422, field), answer)
        self.add("asked")
        self.assertEqual(self.post("/api/projects", {"slug": "asked", "root": self.root})[0], 409)
        for body, field in [({}, "query"), ({"query": "x", "source_types": ["nothing"]}, "source_types"), ({"query": "x", "top_k": 0}, "top_k"),
                            ({"query": "x", "min_score": 2}, "min_score"), ({"query": " "}, "query")]:
            with self.subTest(body=body):
                status, answer = self.post("/api/projects/asked/retrieve", body)
                self.assertEqual((status, answer["error"].get("field")), (422, field), answer)
        self.assertEqual(self.json("GET", "/api/projects/asked/graph?symbol=x&hops=99")[0], 422)
        self.assertEqual(self.post("/api/projects/asked/invalidate", {"path": "no/such"})[0], 404)
        self.assertEqual(self.post("/api/projects/asked/invalidate", {"path": "README.md"})[0], 200)
        status, empty = self.post("/api/projects/asked/retrieve", {"query": "InvoiceServise", "source_types": ["job"], "min_score": 1})
        self.assertEqual((status, empty["chunks"]), (200, []))
        self.assertIn("App\\Services\\InvoiceService", empty["clarification"]["question"])


class Closed(ServerCase):
    def test_without_allowed_folders_no_project_can_be_added(self):
        status, body = self.post("/api/projects", {"slug": "x", "root": "/tmp"})
        self.assertEqual(status, 409, body)
        self.assertIn("projects.roots", body["error"]["message"])


if __name__ == "__main__":
    http_test.main()
