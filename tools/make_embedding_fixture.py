#!/usr/bin/env python3
"""Writes the reference data for the encoder's tests.

    make_embedding_fixture.py MODEL_FOLDER OUTPUT_FOLDER

Needs sentence-transformers (CPU is enough) and runs a sentence-transformers model folder with a window of 256 tokens.
It writes to OUTPUT_FOLDER:
    texts.jsonl        one {"text": ...} per line: the inputs, written for this purpose
    token_ids.jsonl    one {"ids": [...], "offsets": [[begin, end]...]} per line: ids with [CLS] and [SEP], and the byte range
                       of each token in the text
    vectors.f32        texts x hidden numbers, 32-bit little-endian floats, row by row, unit length
    code_points.json   a SHA-256 over the ids of "a" + c + "b" for every code point c (32-bit little-endian, with -1
                       after each text), so that the tokenizer is compared on all of Unicode
"""
import hashlib
import json
import pathlib
import sys

import numpy

WINDOW = 256

QUERIES = [
    "hello", "a", "I", "?", "how do I reset my password", "What's the refund window?", "opening hours on sunday",
    "Why does the build fail with exit code 137?", "who wrote the maintenance guide", "vegan soup recipe",
    "difference between TCP and UDP", "best time to prune apple trees", "HOW LONG DOES SHIPPING TAKE TO NORWAY",
    "cancel subscription", "is the museum wheelchair accessible", "error: cannot find module './config'",
    "what does HTTP 429 mean", "compare plan A and plan B", "does it support single sign-on (SSO)?",
    "state-of-the-art", "can't won't shouldn't", "rock 'n' roll", "e-mail vs. email", "3 + 4 = 7", "50% off!!!",
]

PROSE = [
    "The ferry leaves the northern pier twice a day, and passengers are asked to arrive twenty minutes early.",
    "When the sensor reports a temperature above the limit, the controller lowers the fan speed in three steps.",
    "Nobody in the village remembered when the bridge had been built, but everyone agreed that it would not last.",
    "Invoices are issued on the first working day of the month and are payable within thirty days.",
    "A good index is small enough to stay in memory and simple enough to be rebuilt without fear.",
    "She measured the flour twice, sifted it, and only then noticed that the oven was still cold.",
    "Permission to read a folder does not imply permission to list the folders above it.",
    "The comet will be visible before dawn, low in the eastern sky, for about two weeks.",
    "Replace the filter every six months, or sooner when the indicator lamp turns orange.",
    "Retries are safe only if the operation is idempotent; otherwise send a key with each attempt.",
    "Our volunteers planted eleven thousand oaks on the slopes that burned four summers ago.",
    "Unbelievably, electroencephalography and photolithography appeared in the same crossword.",
    "The orchestra tuned while the last visitors searched for their seats in the dim light.",
    "If the lease expires before renewal, the node stops accepting writes and waits for an operator.",
]

CODE = [
    "def add(left, right):\n    return left + right\n",
    "for (int i = 0; i < n; ++i) {\n  total += values[i] * weights[i];\n}",
    "SELECT name, COUNT(*) AS orders FROM customers JOIN orders USING (customer_id) GROUP BY name HAVING COUNT(*) > 3;",
    "const result = await fetch(`/api/items/${id}?limit=20`, { method: 'POST' });",
    "template <class T> auto max_of(const std::vector<T>& v) -> std::optional<T>;",
    "#!/bin/sh\nset -eu\nfind . -name '*.log' -mtime +30 -delete\n",
    "{\"name\": \"widget\", \"sizes\": [1, 2.5, -3e10], \"nested\": {\"ok\": true, \"none\": null}}",
    "int* p = &x; *p ^= 0xFF; p->q[~0u >> 3] |= (1 << 4);",
    "getUserByIdOrThrow(userId).thenApply(User::getDisplayName)",
    "snake_case_identifier kebab-case-identifier SCREAMING_CASE_IDENTIFIER camelCaseIdentifier",
    "<div class=\"card\" data-id='7'><a href=\"#top\">Back &amp; up</a></div>",
    "$ git rebase --interactive HEAD~3 && git push --force-with-lease",
]

LISTS = [
    "- bread\n- milk\n- two lemons\n- olive oil",
    "1. Unplug the device.\n2. Wait ten seconds.\n3. Plug it in again.\n4. Call us if the lamp stays red.",
    "* alpha\n  * beta\n    * gamma",
    "Name | Size | Price\n--- | --- | ---\nSmall | 10 cm | 4.50\nLarge | 25 cm | 9.90",
    "# Heading\n\n## Sub-heading\n\nText with **bold**, _italic_ and `code`.",
    "Q: Where is the key?\nA: Under the mat.\n\nQ: Which mat?\nA: The blue one.",
]

LANGUAGES = [
    "Wie lange dauert die Lieferung nach Österreich? Fünf Werktage, außer an Feiertagen.",
    "Die Straßenbahn fährt über die Brücke; größere Gepäckstücke gehören in den letzten Wagen.",
    "Donaudampfschifffahrtsgesellschaftskapitänsmütze",
    "L'été dernier, nous avons mangé des crêpes à la crème brûlée près de l'hôtel.",
    "Où est la bibliothèque ? Ça dépend : celle du cœur de ville est fermée.",
    "¿Cuándo abre el museo? Mañana a las nueve, señor Núñez.",
    "Ação, coração, pão e maçã: já não há mais.",
    "İstanbul'da ığdır şeker çiğ köfte; IŞIK ve ışık.",
    "Žluťoučký kůň úpěl ďábelské ódy.",
    "Zażółć gęślą jaźń.",
    "Đường đến Hà Nội rất đẹp, nhưng trời mưa.",
    "今天的天气很好，我们去公园散步吧。",
    "请问退款需要几天？一般三到五个工作日。",
    "機械学習の入門書を探しています。",
    "カタカナとひらがな、そして漢字。ガギグゲゴ パピプペポ",
    "ｶﾞｷﾞｸﾞ ＦＵＬＬＷＩＤＴＨ　ｔｅｘｔ　１２３",
    "한국어 문장을 토큰으로 나누면 자모로 풀립니다.",
    "Где находится ближайшая станция метро? Ёлки и йод.",
    "Привет, мир! Съешь же ещё этих мягких французских булок.",
    "Київ — столиця України, її їжа смачна.",
    "Πού είναι η θάλασσα; ΟΔΥΣΣΕΥΣ και Ὀδυσσεύς",
    "كيف يمكنني إعادة تعيين كلمة المرور؟",
    "مَرْحَبًا بِالعَالَم، هٰذَا نَصٌّ مُشَكَّل.",
    "איפה המפתח? הַמַּפְתֵּחַ כָּאן.",
    "नमस्ते दुनिया, यह एक परीक्षण है।",
    "สวัสดีชาวโลก นี่คือการทดสอบ",
    "გამარჯობა მსოფლიო, ᲒᲐᲛᲐᲠᲯᲝᲑᲐ",
    "Բարեւ աշխարհ և եւ",
    "வணக்கம் உலகம் தமிழ்",
    "mixed 中文 and English 日本語 words한국어and Русский text",
]

ODD = [
    "", " ", "\t\n\r ", "\u200b", "\u00a0\u2003\u3000", ".", "...", "!?!?", "\u0301", "a\u0301e\u0300 cafe\u0301 café",
    "nul\x00inside and\x01control\x02characters\x7f\x85here", "soft\u00adhyphen zero\u200bwidth\u200cjoin\u200der \ufeffbom",
    "replacement \ufffd character", "private \ue000 use and unassigned \u0378 point", "line\u2028separator\u2029paragraph",
    "vertical\x0btab form\x0cfeed", "😀", "great job 👍🏽 see you 👩‍👩‍👧‍👦 🇳🇴 ❤️ ☕️", "emoji😀inside😀words", "™ © ® ℃ № ½ ² ³ µ",
    "𝓯𝓪𝓷𝓬𝔂 𝕥𝕖𝕩𝕥 𝟘𝟙𝟚", "ﬁnd the ﬂaw in the oﬃce", "“curly” ‘quotes’ «guillemets» „low“ … – — ― ‐ ·",
    "x" * 100, "x" * 101, "x" * 300, "ab" * 50 + " ok", "é" * 100, "é" * 101, "한" * 34, "supercalifragilisticexpialidocious",
    "[CLS]", "[MASK]", "the capital is [MASK] .", "a[SEP]b", "[mask] [Mask] [ MASK ]", "[PAD][UNK][CLS]", "[[MASK]]", "[MASK",
    "##ing ##", "# # ##a a##b", "[unused0] [unused99]", "\u212b \u2126 \u212a \u1fef \u037e \u2260 \u226e", "\u0130\u0131 \u01c5 \u1e9e ẞß ſ",
    "\u3400\u4dbf\u9fff\uf900\ufaff\U00020000\U0002a6df\U0002f800", "\u0300\u0301leading marks", "z\u0335\u0321\u0327a\u0338lgo\u0321\u0334",
    "\u302e\u302fa\u302f\u302e", "tab\tseparated\tvalues\n1\t2\t3", "a  b   c    d", "trailing space ", " leading space",
]

NUMBERS = [
    "1,234,567.89", "2024-02-29T23:59:59.999Z", "+47 22 33 44 55", "192.168.0.1:8080 and fe80::1%eth0", "0xDEADBEEF 0b1010 1e-9",
    "£12.50, €9,99, $5 and ¥1000", "ISBN 978-3-16-148410-0", "v2.10.3-rc.1+build.77", "10:30–11:45 (UTC+2)", "½ cup, 1⅓ tsp, 5′ 11″",
    "https://example.org/path/to/page.html?query=hello%20world&lang=en#section-2", "http://localhost:7700/api/v1/items/42",
    "mailto:someone@example.com, ftp://files.example.net/pub/", "C:\\Users\\Guest\\Documents\\report (final).docx", "/usr/local/lib/libexample.so.1.2",
    "d41d8cd98f00b204e9800998ecf8427e", "550e8400-e29b-41d4-a716-446655440000", "SGVsbG8sIHdvcmxkIQ==",
]


def compose():
    """The inputs: everything above, then passages of increasing length, up to longer than the window."""
    texts = QUERIES + PROSE + CODE + LISTS + LANGUAGES + ODD + NUMBERS
    pool = PROSE + LANGUAGES[:6] + CODE[:4] + NUMBERS[:4]
    passages = 200 - len(texts)
    assert passages >= 20, passages
    for i in range(passages):
        count = 2 + i * 30 // passages
        texts.append(" ".join(pool[(i * 7 + j * (1 + i % 5)) % len(pool)] for j in range(count)))
    return texts


def byte_offsets(text, pairs):
    """Character offsets as byte offsets of the UTF-8 form."""
    at = [0]
    for character in text:
        at.append(at[-1] + len(character.encode()))
    return [[at[begin], at[end]] for begin, end in pairs]


def hash_code_points(tokenizer):
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    digest = hashlib.sha256()
    for start in range(0, len(points), 20000):
        batch = ["a" + chr(c) + "b" for c in points[start : start + 20000]]
        for encoding in tokenizer.encode_batch(batch, add_special_tokens=False):
            digest.update(numpy.array(encoding.ids + [-1], dtype="<i4").tobytes())
    return {"code_points": len(points), "sha256": digest.hexdigest()}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    from sentence_transformers import SentenceTransformer

    model_folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    model = SentenceTransformer(str(model_folder), device="cpu")
    model.max_seq_length = WINDOW
    texts = compose()

    # One text at a time: padding must not affect the reference.
    vectors = numpy.stack([model.encode([text], normalize_embeddings=True)[0] for text in texts]).astype("<f4")
    tokenizer = model.tokenizer.backend_tokenizer
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=WINDOW)
    with open(out / "texts.jsonl", "w", encoding="utf-8") as texts_file, open(out / "token_ids.jsonl", "w", encoding="utf-8") as ids_file:
        for text in texts:
            encoding = tokenizer.encode(text)
            texts_file.write(json.dumps({"text": text}) + "\n")
            row = {"ids": encoding.ids, "offsets": byte_offsets(text, encoding.offsets)}
            ids_file.write(json.dumps(row, separators=(",", ":")) + "\n")
    vectors.tofile(out / "vectors.f32")
    tokenizer.no_truncation()
    (out / "code_points.json").write_text(json.dumps(hash_code_points(tokenizer)) + "\n")
    print(f"{len(texts)} texts, vectors of {vectors.shape[1]} numbers")


if __name__ == "__main__":
    main()
