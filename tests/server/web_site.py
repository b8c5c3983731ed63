"""A web site on loopback for tests: pages with links, redirects, a packed sitemap, rules, traps, and a search engine beside it."""
import gzip
import hashlib
import http.server
import json
import threading
import urllib.parse

SUBJECTS = ["lamps", "chairs", "tables", "shelves", "carpets", "mirrors", "clocks", "curtains", "vases", "stoves"]
FACTS = ["is made of seasoned oak and weighs {n} kilograms", "is delivered within {n} working days of the order",
         "may be returned within {n} days if it was not used", "has a guarantee of {n} months on all moving parts",
         "is repaired by the workshop in hall {n} of the old harbour"]


def article(number):
    """The text of one page, which no other page has."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    name = f"model {number} of the {subject}"
    return [f"The {name} " + fact.format(n=number + 3 * i + 2) + "." for i, fact in enumerate(FACTS)]


def html(title, paragraphs, links=(), head=""):
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return (f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body><nav>{anchors}</nav>"
            f"<main><h1>{title}</h1>{body}</main><footer>All rights reserved. Cookie settings. Imprint.</footer></body></html>")


class Site:
    """Serves self.pages ({path: (status, headers, bytes)}) and counts requests. Pages have ETags."""

    def __init__(self):
        self.pages, self.requests, self.bytes_sent = {}, [], 0
        self.results = []  # of the search engine at /search
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                site.requests.append(self.path)
                status, headers, body = site.answer(self.path)
                tag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
                if status == 200 and self.headers.get("If-None-Match") == tag:
                    status, headers, body = 304, {}, b""
                self.send_response(status)
                for name, value in {"ETag": tag, **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = True
                site.bytes_sent += len(body)

        class Listener(http.server.ThreadingHTTPServer):
            request_queue_size = 128

        self.server = Listener(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def answer(self, path):
        parsed = urllib.parse.urlsplit(path)
        if parsed.path == "/search":
            query = urllib.parse.parse_qs(parsed.query)
            return 200, {"Content-Type": "application/json"}, json.dumps({"query": query["q"][0], "results": self.results}).encode()
        if path in self.pages:
            return self.pages[path]
        if parsed.path.startswith("/calendar/"):  # a trap: every month links to the next
            month = int(parsed.path.rsplit("/", 1)[1])
            page = html("Calendar", ["There are no events in this month. " * 12], [f"/calendar/{month + 1}"])
            return 200, {"Content-Type": "text/html"}, page.encode()
        return 404, {"Content-Type": "text/html"}, b"<h1>Not found</h1>"

    def put(self, path, text, status=200, media_type="text/html; charset=utf-8", **headers):
        body = text if isinstance(text, bytes) else text.encode()
        self.pages[path] = (status, {"Content-Type": media_type, **headers}, body)

    def redirect(self, path, to, status=301):
        self.pages[path] = (status, {"Location": to}, b"")

    def forget(self):
        self.requests, self.bytes_sent = [], 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def fill(site, count):
    """`count` addresses of every sort. Returns what a crawl must come to, by reason."""
    site.put("/robots.txt", f"User-agent: *\nDisallow: /private/\nSitemap: {site.url}/sitemap.xml\n", media_type="text/plain")
    kept, gone = count // 2, {"robots.txt": count // 20, "not found": count // 20, "soft 404": count // 20, "redirect": count // 20,
                              "canonical elsewhere": count // 20, "noindex": count // 20, "too short": count // 20, "failed": count // 20,
                              "duplicate": count // 20, "no page": count // 20}
    pages = [f"/page/{i}" for i in range(kept)]
    for i, path in enumerate(pages):
        site.put(path, html(f"Model {i}", article(i), pages[i + 1:i + 4]))
    others = {}
    for reason, number in gone.items():
        name = reason.split()[0].replace(".", "-")
        others[reason] = [f"/{'private' if reason == 'robots.txt' else name}/{name}{i}" + (".zip" if reason == "no page" else "")
                          for i in range(number)]
    for i, path in enumerate(others["soft 404"]):
        site.put(path, html("Page not found", [f"Nothing is at place {i}. " * 3]))
    for i, path in enumerate(others["redirect"]):
        site.redirect(path, pages[i])
    for i, path in enumerate(others["canonical elsewhere"]):
        site.put(path, html(f"Model {i}", article(i), head=f'<link rel=canonical href="{pages[i]}">'))
    for i, path in enumerate(others["noindex"]):
        site.put(path, html("Hidden", article(count + i), head='<meta name="robots" content="noindex">'))
    for i, path in enumerate(others["too short"]):
        site.put(path, html("S", [f"Tiny {i}."]))
    for path in others["failed"]:
        site.put(path, "broken", status=500)
    for i, path in enumerate(others["duplicate"]):
        site.put(path, html(f"Model {i}", article(i)))
    links = [path for paths in others.values() for path in paths]
    # Half of the pages are linked from the first one, half are only in the packed sitemap.
    site.put("/", html("Home", ["This is the home of the makers of furniture in the old harbour. " * 5], pages[:kept // 2:3] + links))
    urls = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in pages[kept // 2:])
    site.put("/sitemap.xml", f"<sitemapindex><sitemap><loc>{site.url}/sitemap.xml</loc></sitemap>"
             f"<sitemap><loc>{site.url}/pages.xml.gz</loc></sitemap></sitemapindex>", media_type="application/xml")
    site.put("/pages.xml.gz", gzip.compress(f"<urlset>{urls}</urlset>".encode()), media_type="application/gzip")
    return {"kept": kept + 1, **gone}
