#!/usr/bin/env python3
"""Tests the openai client from PyPI with a running server and a model server behind it: FOOTNOTE_URL=http://127.0.0.1:7700.

tests/server/fake_upstream.py defines what each model does; tools/setup.sh installs the client (PYTHONPATH=.deps/python).
"""
import json
import os
import unittest
import urllib.request

import openai

BASE = os.environ["FOOTNOTE_URL"]
QUESTION = "Summarise the latest Qdrant release."
MESSAGES = [{"role": "user", "content": QUESTION}]
ANSWER = r"hybrid search throughput and faster filters \[1\]\[2\]"


class OpenAiClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = openai.OpenAI(base_url=f"{BASE}/v1", api_key="none-needed", max_retries=0)
        cls.model = json.load(urllib.request.urlopen(f"{BASE}/model", timeout=60))

    def test_a_chat_whole(self):
        completion = self.client.chat.completions.create(model="rag/phi3-en", messages=MESSAGES)
        self.assertEqual((completion.model, completion.usage.total_tokens), ("rag/phi3-en", 10))
        message = completion.choices[0].message
        self.assertRegex(message.content, ANSWER)
        cited = message.annotations[0].url_citation
        self.assertEqual(message.content[cited.start_index:cited.end_index], "[1]")
        self.assertTrue(cited.url.startswith("https://qdrant.tech/"))

    def test_a_chat_streamed_with_usage(self):
        text, usage = "", None
        for chunk in self.client.chat.completions.create(model="rag/phi3-en", messages=MESSAGES, stream=True, stream_options={"include_usage": True}):
            self.assertEqual(chunk.model, "rag/phi3-en")
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
            usage = chunk.usage or usage
        self.assertRegex(text, ANSWER)
        self.assertEqual(usage.total_tokens, 10)

    def test_errors_have_their_classes(self):
        def ask(**more):
            return self.client.chat.completions.create(**{"model": "rag/phi3-en", "messages": MESSAGES, **more})

        with self.assertRaises(openai.RateLimitError) as busy:
            ask(model="rag/busy")
        self.assertEqual(busy.exception.code, "rate_limit_exceeded")
        self.assertTrue(busy.exception.request_id)
        for error, more in ((openai.NotFoundError, {"model": "rag/nowhere"}), (openai.BadRequestError, {"messages": []}),
                            (openai.InternalServerError, {"model": "rag/broken"})):
            with self.assertRaises(error):
                ask(**more)
        with self.assertRaises(openai.APIError) as broken:
            for _ in ask(model="rag/truncated", stream=True):
                pass
        self.assertEqual(broken.exception.type, "server_error")

    def test_models(self):
        names = [model.id for model in self.client.models.list()]
        for name in ("local/phi3-en", "rag/phi3-en", "rag/footnote", self.model["model"]):
            self.assertIn(name, names)
        self.assertEqual(self.client.models.retrieve("rag/phi3-en").id, "rag/phi3-en")

    def test_embeddings(self):
        made = self.client.embeddings.create(model=self.model["model"], input="Harbour")
        self.assertEqual(len(made.data[0].embedding), self.model["dim"])

    def test_responses_whole_and_streamed(self):
        response = self.client.responses.create(model="rag/phi3-en", input=QUESTION)
        self.assertRegex(response.output_text, ANSWER)
        self.assertEqual((response.output[0].content[0].annotations[0].type, response.usage.total_tokens), ("url_citation", 10))
        with self.client.responses.stream(model="rag/phi3-en", input=QUESTION) as stream:
            text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
            self.assertRegex(text, ANSWER)
            self.assertRegex(stream.get_final_response().output_text, ANSWER)

    def test_the_built_in_model_answers_too(self):
        completion = self.client.chat.completions.create(model="rag/footnote", messages=MESSAGES)
        self.assertTrue(completion.choices[0].message.content)


if __name__ == "__main__":
    unittest.main()
