"""Web pages as they are found, made for the test of extraction: 16 kinds, each with several contents. make_pages() gives (name, HTML, main text)."""
import random

NOUNS = ("harbour council bridge ferry library engine valve orchard winter market budget teacher river lantern archive pump signal kiln "
         "garden railway harvest survey bakery museum turbine workshop glacier mooring ledger parish").split()
VERBS = "opened repaired measured described replaced inspected extended painted counted delivered postponed approved rejected".split()
ADJECTIVES = "old northern public narrow quiet steel wooden annual heavy bright local careful former early empty shared".split()
PLACES = "in the north, near the station, behind the mill, at the quay, on the island, in hall seven, by the canal, below the dam".split(", ")
NAMES = "Ada Lindqvist, Jonas Weber, Mira Okafor, Tom Hallgren, Elin Brandt, Pavel Novak".split(", ")


class Words:
    """Sentences by a seed: equal seeds give equal pages."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def sentence(self):
        pick = self.random.choice
        kind = self.random.randrange(4)
        if kind == 0:
            return f"The {pick(ADJECTIVES)} {pick(NOUNS)} {pick(PLACES)} was {pick(VERBS)} by the {pick(NOUNS)} {self.random.randrange(2, 90)} days ago."
        if kind == 1:
            return f"{pick(NAMES)} {pick(VERBS)} the {pick(ADJECTIVES)} {pick(NOUNS)}, although the {pick(NOUNS)} {pick(PLACES)} was still {pick(ADJECTIVES)}."
        if kind == 2:
            return f"A {pick(ADJECTIVES)} {pick(NOUNS)} needs {self.random.randrange(2, 40)} litres of oil a week, and each {pick(NOUNS)} half of that."
        return f"Nobody {pick(VERBS)} the {pick(NOUNS)} before the {pick(ADJECTIVES)} {pick(NOUNS)} had been {pick(VERBS)} {pick(PLACES)}."

    def paragraph(self, low=2, high=5):
        return " ".join(self.sentence() for _ in range(self.random.randint(low, high)))

    def title(self):
        pick = self.random.choice
        return f"{pick(ADJECTIVES).capitalize()} {pick(NOUNS)} {pick(VERBS)} {pick(PLACES)}"

    def short(self):
        return f"{self.random.choice(ADJECTIVES)} {self.random.choice(NOUNS)}"


class Page:
    """Collects the main text while its markup is written."""

    def __init__(self, seed):
        self.words, self.main = Words(seed), []

    def keep(self, text):
        self.main.append(text)
        return text

    def h(self, level, text=None):
        return f"<h{level}>{self.keep(text or self.words.title())}</h{level}>"

    def p(self, attributes=""):
        text = self.words.paragraph()
        sentences = text.split(". ")
        if self.words.random.random() < 0.4 and len(sentences) > 1:  # a link and an emphasis inside
            first, *rest = text.split(" ")
            self.keep(text)
            return f'<p{attributes}><em>{first}</em> <a href="/x">{" ".join(rest[:3])}</a> {" ".join(rest[3:])}</p>'
        return f"<p{attributes}>{self.keep(text)}</p>"

    def paragraphs(self, count):
        return "\n".join(self.p() for _ in range(count))

    def ul(self, count, tag="ul"):
        return f"<{tag}>" + "".join(f"<li>{self.keep(self.words.sentence())}</li>" for _ in range(count)) + f"</{tag}>"

    def table(self, rows, columns=3):
        head = "".join(f"<th>{self.keep(self.words.short())}</th>" for _ in range(columns))
        body = "".join("<tr>" + "".join(f"<td>{self.keep(self.words.short() + ' ' + str(r))}</td>" for _ in range(columns)) + "</tr>"
                       for r in range(rows))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def code(self):
        noun = self.words.random.choice(NOUNS)
        lines = [f"def open_{noun}(size):", f"    {noun} = find(size + {self.words.random.randrange(9)})", f"    return {noun}.count()"]
        return "<pre><code>" + self.keep("\n".join(lines)) + "</code></pre>"


# What surrounds the main text on most sites.
NAV = ('<nav class="site-nav"><a href="/">Home</a><a href="/news">News</a><a href="/shop">Shop</a><a href="/about">About us</a>'
       '<a href="/contact">Contact</a><a href="/login">Sign in</a></nav>')
HEADER = f'<header class="site-header"><a class="logo" href="/">Example Site</a>{NAV}<form action="/s"><input name=q><button>Search</button></form></header>'
FOOTER = ('<footer class="site-footer"><ul><li><a href="/privacy">Privacy policy</a></li><li><a href="/terms">Terms of use</a></li>'
          '<li><a href="/imprint">Imprint</a></li></ul><p>&copy; 2026 Example Site. All rights reserved.</p></footer>')
COOKIES = ('<div id="cookie-banner" class="cookie-consent" role="dialog" aria-label="Cookies"><p>We use cookies and similar techniques to '
           'improve your experience, to show personalised content and to measure the traffic of this site. By clicking accept you agree.</p>'
           '<button>Accept all</button><button>Only necessary</button></div>')
SHARE = '<div class="share-buttons"><a href="#f">Share on Facebook</a><a href="#x">Share on X</a><a href="#m">Send by mail</a></div>'
NEWSLETTER = ('<div class="newsletter-signup"><h3>Get our newsletter</h3><p>The best stories of the week, every Friday in your inbox.</p>'
              '<form><input type=email><button>Subscribe</button></form></div>')


def related(words, count=5, name="related"):
    links = "".join(f'<li><a href="/n/{i}">{words.title()}</a></li>' for i in range(count))
    return f'<aside class="{name}"><h3>More on this subject</h3><ul>{links}</ul></aside>'


def document(title, body, head="", lang="en"):
    return (f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8"><title>{title} | Example Site</title>{head}'
            f"<script>var config = {{text: '<p>not text</p>'}};</script><style>p {{margin: 0}}</style></head>\n<body>\n{body}\n</body></html>\n")


def news(seed):
    page = Page(seed)
    title = page.words.title()
    main = page.h(1, title) + page.paragraphs(3) + page.h(2) + page.paragraphs(4)
    return document(title, f'{COOKIES}{HEADER}<div class="layout"><main><article>{main}{SHARE}{NEWSLETTER}</article></main>'
                    f"{related(page.words)}</div>{FOOTER}"), page


def news_of_divs(seed):
    page = Page(seed)
    title = page.words.title()
    main = page.h(1, title) + page.paragraphs(6)
    teasers = "".join(f'<div class="teaser"><a href="/t{i}"><b>{page.words.title()}</b> {page.words.title()}</a></div>' for i in range(6))
    return document(title, f'<div class="top">{NAV}</div><div class="wrap"><div class="story-body">{main}</div>'
                    f'<div class="sidebar">{teasers}</div></div>{SHARE}<div class="footer">{FOOTER}</div>'), page


def blog(seed):
    page = Page(seed)
    title = page.words.title()
    main = page.h(1, title) + page.paragraphs(2) + f"<blockquote>{page.keep(page.words.sentence())}</blockquote>" + page.paragraphs(3) + page.ul(3)
    comments = "".join(f'<div class="comment"><span class="author">{name}</span><p>{page.words.sentence()}</p><a href="#">Reply</a></div>'
                       for name in NAMES[:3])
    return document(title, f'{HEADER}<article class="post">{main}</article>{SHARE}<section id="comments" class="comments"><h2>3 comments</h2>'
                    f'{comments}<form><textarea></textarea><button>Post comment</button></form></section>{FOOTER}'), page


def docs(seed):
    page = Page(seed)
    title = page.words.title()
    main = page.h(1, title) + page.p() + page.h(2) + page.p() + page.code() + page.ul(4, "ol") + page.h(2) + page.p() + page.table(3)
    side = "".join(f'<li><a href="/docs/{i}">{page.words.short()}</a></li>' for i in range(20))
    toc = "".join(f'<li><a href="#s{i}">{page.words.short()}</a></li>' for i in range(4))
    return document(title, f'{HEADER}<div class="container"><aside class="sidebar-nav"><ul>{side}</ul></aside><main role="main">'
                    f'<div class="breadcrumbs"><a href="/">Docs</a> / <a href="/g">Guides</a></div>{main}'
                    f'<div class="pagination"><a href="/p">Previous: Install</a><a href="/n">Next: Configure</a></div></main>'
                    f'<nav class="toc"><p>On this page</p><ul>{toc}</ul></nav></div>{FOOTER}'), page


def docs_of_sphinx(seed):
    page = Page(seed)
    title = page.words.title()
    main = page.h(1, title) + page.paragraphs(2) + page.h(2) + page.p() + page.code() + page.p()
    side = "".join(f'<li class="toctree-l1"><a href="{i}.html">{page.words.short()}</a></li>' for i in range(15))
    return document(title, f'<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">'
                    f'<section id="x">{main}</section></div></div></div><div class="sphinxsidebar" role="navigation"><h3>Table of Contents</h3>'
                    f'<ul>{side}</ul><h3>Quick search</h3><form><input></form></div></div>'
                    f'<div class="footer">Created using Sphinx 7.1. Last updated today.</div>'), page


def api_reference(seed):
    page = Page(seed)
    title = "list_" + page.words.random.choice(NOUNS)
    main = page.h(1, title) + page.p() + page.code() + page.h(2, "Parameters") + page.table(5) + page.h(2, "Returns") + page.p()
    side = "".join(f'<a class="nav-link" href="#{i}">get_{page.words.random.choice(NOUNS)}</a>' for i in range(25))
    return document(title, f'{HEADER}<div id="sidebar">{side}</div><div id="content">{main}</div>{FOOTER}'), page


def shop(seed):
    page = Page(seed)
    title = page.words.short().capitalize() + " deluxe"
    price = page.keep(f"{page.words.random.randrange(20, 900)}.00 EUR")
    main = (page.h(1, title) + f'<p class="price">{price}</p>' + page.paragraphs(2) + page.h(2, "Specifications") + page.table(5, 2) +
            page.h(2, "Delivery") + page.p())
    others = "".join(f'<div class="product-card"><a href="/p{i}"><img src="{i}.jpg" alt="{page.words.short()}">{page.words.short()}</a>'
                     f'<span>{i}9.00 EUR</span><button>Add to cart</button></div>' for i in range(6))
    return document(title, f'{COOKIES}{HEADER}<div class="breadcrumb"><a href="/">Home</a> &gt; <a href="/c">Furniture</a></div>'
                    f'<main class="product">{main}<button>Add to cart</button></main>'
                    f'<section class="recommendations related-products"><h2>Customers also bought</h2>{others}</section>{NEWSLETTER}{FOOTER}'), page


def forum(seed):
    page = Page(seed)
    title = page.words.title()
    posts = ""
    for name in NAMES[:4]:
        posts += (f'<div class="post"><div class="user-info"><a href="/u">{name}</a></div>'
                  f'<div class="post-content">{page.p()}{page.p()}</div><div class="post-actions"><a href="#">Quote</a><a href="#">Report</a></div></div>')
    return document(title, f'{HEADER}<div class="thread">{page.h(1, title)}{posts}</div>'
                    f'<div class="pagination"><a href="?2">2</a><a href="?3">3</a><a href="?n">Next page</a></div>{FOOTER}'), page


def question(seed):
    page = Page(seed)
    title = page.words.title() + "?"
    main = page.h(1, title) + f'<div class="question">{page.p()}{page.code()}</div>'
    for _ in range(3):
        main += f'<div class="answer"><div class="vote"><button>up</button></div><div class="answer-body">{page.p()}{page.p()}</div></div>'
    links = "".join(f'<a href="/q/{i}">{page.words.title()}</a>' for i in range(8))
    return document(title, f'{HEADER}<div id="content"><div id="mainbar">{main}</div><div id="sidebar" class="sidebar"><h4>Linked</h4>{links}</div>'
                    f"</div>{FOOTER}"), page


def wiki(seed):
    page = Page(seed)
    title = page.words.short().capitalize()
    main = page.h(1, title) + page.paragraphs(2) + page.h(2) + page.paragraphs(2) + page.table(4) + page.h(2) + page.paragraphs(2)
    toc = "".join(f'<li><a href="#{i}">{page.words.short()}</a></li>' for i in range(6))
    menu = "".join(f'<li><a href="/{i}">{label}</a></li>' for i, label in enumerate(["Main page", "Random article", "Recent changes", "Help", "Donate"]))
    return document(title, f'<div id="mw-panel" role="navigation"><ul>{menu}</ul></div><div id="content" class="mw-body" role="main">{main}'
                    f'<div id="toc" class="toc" role="navigation"><h2>Contents</h2><ul>{toc}</ul></div></div>'
                    f'<div id="footer" role="contentinfo"><p>Text is available under a free licence; further terms may apply.</p></div>'), page


def recipe(seed):
    page = Page(seed)
    title = page.words.short().capitalize() + " soup"
    main = (page.h(1, title) + page.p() + page.h(2, "Ingredients") +
            "<ul>" + "".join(f"<li>{page.keep(f'{i + 1} cups of {page.words.short()}')}</li>" for i in range(6)) + "</ul>" +
            page.h(2, "Method") + page.ul(5, "ol"))
    return document(title, f'{COOKIES}{HEADER}<article class="recipe">{main}{SHARE}</article>{NEWSLETTER}{related(page.words, 4, "you-may-also-like")}{FOOTER}'), page


def faq(seed):
    page = Page(seed)
    title = "Frequent questions"
    items = "".join(f"<details><summary>{page.keep(page.words.title() + '?')}</summary>{page.p()}</details>" for _ in range(7))
    return document(title, f"{HEADER}<main>{page.h(1, title)}{items}</main>{FOOTER}{COOKIES}"), page


def terms(seed):
    page = Page(seed)
    title = "Conditions of delivery"
    main = page.h(1, title) + "".join(page.h(2, f"{i + 1}. " + page.words.short()) + page.paragraphs(2) for i in range(6))
    return document(title, f'{HEADER}<section class="page-content">{main}</section>{FOOTER}'), page


def tables_of_old(seed):
    page = Page(seed)
    title = page.words.title()
    links = "".join(f'<tr><td><a href="{i}.htm">{page.words.short()}</a></td></tr>' for i in range(10))
    main = page.h(1, title) + page.paragraphs(5)
    return document(title, f'<table width="100%"><tr><td colspan=2 bgcolor=blue><a href="/">Example Site</a></td></tr><tr><td width=150 valign=top>'
                    f'<table>{links}</table></td><td valign=top>{main}</td></tr><tr><td colspan=2><font size=1>Copyright 1999-2026 '
                    f'<a href="mailto:w">Webmaster</a></font></td></tr></table>'), page


def changelog(seed):
    page = Page(seed)
    title = "Release notes"
    main = page.h(1, title)
    for i in range(4):
        main += page.h(2, f"Version {4 - i}.{seed % 7}") + page.ul(4)
    return document(title, f'{HEADER}<div class="content-wrapper"><div class="markdown-body">{main}</div></div>{FOOTER}'), page


def event(seed):
    page = Page(seed)
    title = page.words.title()
    facts = "".join(f"<dt>{page.keep(name)}</dt><dd>{page.keep(value)}</dd>" for name, value in
                    [("When", "12 May 2027, 19:00"), ("Where", "Hall seven at the quay"), ("Price", "14 EUR, children free")])
    main = page.h(1, title) + f"<dl>{facts}</dl>" + page.paragraphs(3)
    ads = '<div class="advertisement ad-slot"><p>Advertisement</p><a href="/ad">Buy two engines and pay for one only this week</a></div>'
    return document(title, f'{COOKIES}{HEADER}{ads}<main id="main-content">{main}{ads}</main>{related(page.words)}{FOOTER}'), page


KINDS = (news, news_of_divs, blog, docs, docs_of_sphinx, api_reference, shop, forum, question, wiki, recipe, faq, terms, tables_of_old, changelog, event)
CONTENTS = 4


def make_pages():
    for kind in KINDS:
        for number in range(CONTENTS):
            html, page = kind(1000 * KINDS.index(kind) + number)
            yield f"{kind.__name__}_{number}", html, "\n".join(page.main)
