#!/usr/bin/env python3
"""Tests the fetch service with the real binary and a site on loopback.

usage: web_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import ServerCase, wait_until  # noqa: E402
from web_site import Site, article, fill, html  # noqa: E402


class WebCase(ServerCase):
    allow = True
    engine = False

    @classmethod
    def setUpClass(cls):
        cls.site = Site()
        cls.site.__enter__()
        for i in range(6):
            cls.site.put(f"/page/{i}", html(f"Model {i}", article(i)))
        cls.site.redirect("/old", "/page/1")
        cls.site.redirect("/inside", f"http://127.0.0.1:{cls.site.port + 1}/")
        cls.site.put("/photo.png", b"\x89PNG", media_type="image/png")
        cls.site.put("/latin", "<p>Caf\xe9 M\xfcller hat sonntags ge\xf6ffnet und montags geschlossen.</p>".encode("latin-1"),
                     media_type="text/html; charset=iso-8859-1")
        cls.site.put("/notes.md", "# Notes\n\nThe workshop is in hall seven.\n", media_type="text/plain")
        cls.environment = {"FOOTNOTE_WEB_DELAY": "0"}
        if cls.allow:
            cls.environment["FOOTNOTE_WEB_ALLOW"] = f"127.0.0.1:{cls.site.port}"
        if cls.engine:
            cls.environment["SEARXNG_URL"] = cls.site.url
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.site.__exit__()

    def get(self, path, **query):
        response, data = self.call("GET", path + "?" + urllib.parse.urlencode(query))
        return response.status, json.loads(data)

    def fetch(self, path, **more):
        status, body = self.post("/fetch", {"url": self.site.url + path, **more})
        self.assertEqual(status, 200, body)
        return body["item"]


class Fetching(WebCase):
    def test_a_page_is_its_readable_text(self):
        item = self.fetch("/old")
        self.assertEqual((item["url"], item["ok"], item["title"]), (self.site.url + "/page/1", True, "Model 1"))
        self.assertIn(article(1)[0], item["text"])
        self.assertNotIn("Cookie settings", item["text"])
        self.assertIn("<h1>", item["html"])
        self.assertIn("Caf\u00e9 M\u00fcller", self.fetch("/latin")["text"])
        self.assertEqual(self.fetch("/notes.md")["html"], "")

    def test_one_bad_page_fails_alone(self):
        urls = [self.site.url + "/page/2", self.site.url + "/nothing", "http://10.0.0.1/", "file:///etc/passwd", self.site.url + "/photo.png",
                self.site.url + "/inside", "http://user@127.0.0.1/"]
        for body in (urls, {"urls": urls}):
            status, answer = self.post("/extract", body)
            self.assertEqual(status, 200, answer)
            self.assertEqual([item["ok"] for item in answer["items"]], [True] + [False] * 6)
            self.assertTrue(all(item["error"] for item in answer["items"][1:]))
            self.assertNotIn("root:", json.dumps(answer))

    def test_bad_requests_are_refused(self):
        for body in ([], {"urls": []}, ["x"] * 21, [1], {"urls": ["http://a.example/"], "more": 1}):
            self.assertEqual(self.post("/extract", body)[0], 422, body)
        self.assertEqual(self.post("/fetch", {})[0], 422)
        self.assertEqual(self.get("/search", q="")[0], 422)
        self.assertEqual(self.post("/summarize", {})[0], 422)
        self.assertEqual(self.post("/summarize", {"text": "x", "urls": ["http://a.example/"]})[0], 422)
        self.assertEqual(self.post("/research", {"query": "x", "k": 99})[0], 422)

    def test_a_stored_page_is_found(self):
        self.fetch("/page/4", store="web")
        status, found = self.post("/api/search", {"query": article(4)[0], "project_key": "web"})
        self.assertEqual(status, 200, found)
        self.assertEqual(found["hits"][0]["source_path"], self.site.url + "/page/4")

    def test_a_search_without_a_server_says_what_to_set(self):
        for status, body in (self.get("/search", q="lamps"), self.post("/research", {"query": "What is a quark?", "corpus": "empty"})):
            self.assertEqual(status, 503, body)
            self.assertIn("SEARXNG_URL", body["error"]["message"])

    def test_a_summary_quotes_its_pages(self):
        urls = [self.site.url + f"/page/{i}" for i in (0, 3)] + [self.site.url + "/nothing"]
        status, body = self.post("/summarize", {"urls": urls, "query": "Of what is model 3 of the shelves made?"})
        self.assertEqual(status, 200, body)
        self.assertIn(article(3)[0] + " [2]", body["summary"])
        self.assertEqual(body["model"], "extractive")
        self.assertEqual([source["url"] for source in body["sources"]], urls[:2])
        self.assertEqual(len(body["failed"]), 1)
        status, body = self.post("/summarize", {"text": " ".join(article(7))})
        self.assertEqual(status, 200, body)
        self.assertIn("[1]", body["summary"])
        self.assertEqual(self.post("/summarize", {"urls": [self.site.url + "/nothing"]})[0], 404)

    def test_research_takes_what_the_store_holds(self):
        status, body = self.get("/research", query="How many weeks of parental leave do I get?")
        self.assertEqual(status, 200, body)
        self.assertIn("16 weeks", body["summary"])
        self.assertRegex(body["summary"], r"\[\d\]")

    def test_the_command_line_fetches_too(self):
        done = subprocess.run([http_test.OPTIONS.binary, "fetch", self.site.url + "/page/5", "--data", self.server.data],
                              env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(article(5)[0], done.stdout)
        done = subprocess.run([http_test.OPTIONS.binary, "fetch", "http://10.0.0.1/", "--data", self.server.data],
                              env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("web.allow", done.stderr)


class Searching(WebCase):
    engine = True

    def test_results_in_the_engines_order_or_by_meaning(self):
        self.site.results = [{"title": "Weather", "url": "http://a.example/", "content": "Rain is expected at the coast."},
                             {"title": "Lamps", "url": "http://b.example/", "content": "Oak lamps with a brass switch."},
                             {"title": "Lamps again", "url": "http://c.example/", "content": "Oak lamps with a brass switch!"},
                             {"title": "No page", "url": "javascript:alert(1)", "content": ""}]
        status, body = self.get("/search", q="oak lamp with a switch", k=3, lang="en")
        self.assertEqual(status, 200, body)
        self.assertEqual([result["title"] for result in body["results"]], ["Weather", "Lamps", "Lamps again"])
        self.assertEqual((body["query"], body["lang"]), ("oak lamp with a switch", "en"))
        status, body = self.get("/search", q="oak lamp with a switch", k=2, rank="semantic")
        self.assertEqual(len(body["results"]), 2)
        self.assertIn(body["results"][0]["title"], ("Lamps", "Lamps again"))
        self.assertEqual(body["results"][1]["title"], "Weather", "the other lamp says the same")

    def test_research_searches_reads_and_sums_up(self):
        self.site.results = [{"title": f"Model {i}", "url": self.site.url + f"/page/{i}", "content": article(i)[0]} for i in range(3)]
        self.site.results.append({"title": "Inside", "url": "http://10.0.0.1/", "content": "Model 2 of the tables"})
        status, body = self.post("/research", {"query": "Within how many days may model 2 of the tables be returned?", "store": "found"})
        self.assertEqual(status, 200, body)
        self.assertIn(article(2)[2], body["summary"])
        _, found = self.post("/api/search", {"query": article(2)[2], "project_key": "found"})
        self.assertEqual(found["hits"][0]["source_path"], self.site.url + "/page/2")


class Crawling(WebCase):
    def found(self, words):
        status, body = self.post("/api/search", {"query": words, "project_key": "site"})
        return status == 200 and any(words in hit["text"] for hit in body["hits"])

    def sync(self, method, path, body=None):
        """Waits for the source to be read; returns what its job did."""
        response, data = self.call(method, path, body)
        self.assertIn(response.status, (200, 201, 202), data)
        number = json.loads(data).get("id", json.loads(data).get("job", {}).get("source_id"))
        job = lambda: self.get(f"/api/jobs/{self.get(f'/api/v1/workspace/sources/{number}')[1]['job_id']}")[1]
        self.assertTrue(wait_until(lambda: job()["state"] in ("done", "failed"), 60), job())
        return number, job()["documents"]

    def test_a_site_is_read_and_kept_up_to_date(self):
        expected = fill(self.site, 40)
        number, first = self.sync("POST", "/api/v1/workspace/sources",
                                  {"kind": "url", "source_url": self.site.url + "/", "project_key": "site", "options": {"site": True}})
        self.assertEqual((first["added"], first["deleted"]), (expected["kept"], 0), first)
        self.assertTrue(self.found(article(7)[0]))
        self.site.put("/page/7", html("Model 7", ["The model 7 of the curtains is sold out until autumn, and no orders are taken. " * 4]))
        del self.site.pages["/page/19"]
        self.site.forget()
        _, again = self.sync("POST", f"/api/v1/workspace/sources/{number}/resync")
        self.assertEqual((again["updated"], again["deleted"], again["added"]), (1, 1, 0), again)
        self.assertTrue(self.found("sold out until autumn"))
        self.assertFalse(self.found(article(7)[0]))
        self.assertFalse(self.found(article(19)[0]))


class Guarded(WebCase):
    allow = False

    def test_this_machine_is_not_fetched(self):
        self.site.forget()
        self.assertFalse(self.fetch("/page/0")["ok"])
        self.assertEqual(self.site.requests, [])


if __name__ == "__main__":
    http_test.main()
