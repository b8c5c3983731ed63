#!/usr/bin/env python3
"""Adds, lists, describes and verifies models with the real program, over model folders of a few kilobytes.

usage: models_test.py FOOTNOTE_BINARY [unittest arguments]
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import cli_test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tiny_model  # noqa: E402


def flip_a_bit(path, at):
    with open(path, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


class Models(cli_test.Case):
    def setUp(self):
        super().setUp()
        self.models = self.folder / "models"
        self.env["FOOTNOTE_MODELS"] = str(self.models)
        self.tiny = tiny_model.write(self.folder / "given") / tiny_model.NAME
        (self.tiny / "checksums.sha256").unlink()

    def add_tiny(self, *arguments):
        return self.run_footnote("models", "add", self.tiny, *arguments)

    def left_behind(self):
        return sorted(path.name for path in self.models.iterdir()) if self.models.exists() else []

    def test_add_list_info_verify(self):
        self.assertIn("There are no models", self.run_footnote("models", "list").out)
        (self.tiny / "pytorch_model.bin").write_bytes(b"not of use")
        said = self.add_tiny().out
        self.assertIn('models.name = "tiny"', said)
        self.assertIn("MODEL_NAME=tiny", said)
        self.assertEqual(sorted(path.name for path in (self.models / "tiny").iterdir()),
                         ["checksums.sha256", "config.json", "model.safetensors", "vocab.txt"])
        sums = dict(reversed(line.split("  ")) for line in (self.models / "tiny/checksums.sha256").read_text().splitlines())
        self.assertEqual(sums["model.safetensors"], hashlib.sha256((self.tiny / "model.safetensors").read_bytes()).hexdigest())
        subprocess.run(["sha256sum", "--check", "--quiet", "checksums.sha256"], cwd=self.models / "tiny", check=True)

        env = {"MODEL_NAME": "somebody/tiny"}
        (model,) = self.run_footnote("models", "list", "--json", env=env).json["models"]
        self.assertEqual({key: model[key] for key in ("name", "kind", "family", "dimension", "layers", "window_tokens", "pooling", "embeds",
                                                      "reranks", "opens")},
                         {"name": "tiny", "kind": "embedder", "family": "bert", "dimension": 32, "layers": 1, "window_tokens": 128,
                          "pooling": "mean", "embeds": True, "reranks": False, "opens": True})
        self.assertRegex(self.run_footnote("models", "list", env=env).out, r"(?m)^tiny +embedder +bert +32 +1 +128 +mean .* embedding$")

        info = self.run_footnote("models", "info", "tiny", "--json").json
        self.assertEqual((info["tokenizer"], info["weights_type"], info["checksums"], info["packed"]), ("wordpiece", "fp32", True, []))
        self.assertEqual(info["weights_sha256"], sums["model.safetensors"])
        self.assertIn("32", self.run_footnote("models", "info", env=env).out)
        self.assertIn("ok  tiny: 3 files match", self.run_footnote("models", "verify").out)
        self.assertTrue(self.run_footnote("models", "verify", "tiny", "--json").json["ok"])

    def test_one_flipped_bit_is_found(self):
        self.add_tiny()
        flip_a_bit(self.models / "tiny/model.safetensors", -1000)
        found = self.run_footnote("models", "verify", code=1).out
        self.assertIn("model.safetensors damaged", found)
        verdict = self.run_footnote("models", "verify", "tiny", "--json", code=1).json
        self.assertFalse(verdict["ok"])
        self.assertEqual([file["name"] for file in verdict["models"][0]["files"] if file["status"] != "ok"], ["model.safetensors"])
        self.write_docs()
        refused = self.run_footnote("ingest", "docs", code=1, env={"MODEL_NAME": "tiny"}).err
        self.assertIn("footnote models add FOLDER --replace", refused)
        self.add_tiny("--replace")
        self.run_footnote("models", "verify")

    def test_a_damaged_packed_file_is_removed_and_made_anew(self):
        self.add_tiny()
        self.write_docs()
        env = {"MODEL_NAME": "sentence-transformers/tiny"}
        self.run_footnote("ingest", "docs", env=env)
        (packed,) = (self.models / "tiny").glob("packed-*.bin")
        self.assertEqual(self.run_footnote("models", "info", "tiny", "--json").json["packed"][0]["name"], packed.name)
        self.run_footnote("models", "verify")
        flip_a_bit(packed, -10)
        self.assertIn(f"{packed.name} damaged", self.run_footnote("models", "verify", code=1).out)
        self.assertFalse(packed.exists())
        self.run_footnote("models", "verify")
        self.run_footnote("search", "leave", env=env)
        self.assertTrue(packed.exists())

    def test_what_cant_be_run_is_refused_and_leaves_nothing(self):
        config = json.loads((self.tiny / "config.json").read_text())
        (self.tiny / "config.json").write_text(json.dumps({**config, "model_type": "modernbert"}))
        refused = self.run_footnote("models", "add", self.tiny, code=1)
        self.assertIn("the model's architecture is 'modernbert'", refused.err)
        self.assertNotIn("make setup", refused.err)
        self.assertEqual(self.left_behind(), [])
        self.assertIn("is not a folder", self.run_footnote("models", "add", "nowhere", code=1).err)
        self.write("empty/readme.txt", "nothing")
        self.assertIn("config.json", self.run_footnote("models", "add", "empty", code=1).err)

        shutil.copytree(self.tiny, self.models / "odd")
        (odd,) = self.run_footnote("models", "list", "--json").json["models"]
        self.assertFalse(odd["opens"])
        self.assertIn("modernbert", odd["reason"])
        self.assertIn("odd: the model's architecture is 'modernbert'", self.run_footnote("models", "list").out)
        self.run_footnote("models", "info", "odd", code=1)

    def test_an_existing_model_is_kept_unless_replaced(self):
        self.add_tiny()
        self.assertIn("--replace", self.run_footnote("models", "add", self.tiny, code=1).err)
        self.assertEqual(self.add_tiny("--name", "second", "--json").json["setting"], {"key": "models.name", "value": "second"})
        self.assertIn("It replaces one", self.add_tiny("--replace").out)
        self.assertEqual(self.left_behind(), ["second", "tiny"])
        self.run_footnote("models", "add", self.tiny, "--name", "a/b", code=1)
        self.run_footnote("models", "add", code=2)
        self.run_footnote("models", code=2)

    def test_a_start_without_the_model_names_the_command(self):
        self.write_docs()
        other = {"MODEL_NAME": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"}
        for command in (("serve", "--port", "0"), ("ingest", "docs"), ("models", "info")):
            run = self.run_footnote(*command, code=1, env=other)
            self.assertIn("the model paraphrase-multilingual-MiniLM-L12-v2 was not found", run.err)
            self.assertIn("footnote models add FOLDER", run.err)
            self.assertIn("FOOTNOTE_MODELS", run.err)
            self.assertIn("MODEL_NAME", run.err)
            self.assertIn("make setup", self.run_footnote(*command, code=1).err)
        checks = self.run_footnote("doctor", "--json", code=1, env=other).json["checks"]
        self.assertIn("footnote models add FOLDER", next(check for check in checks if check["name"] == "model")["fix"])
        self.assertIn("footnote models add FOLDER", self.run_footnote("models", "verify", "nothing", code=1).err)

    def test_the_first_place_that_can_be_written_is_taken_and_hides_later_ones(self):
        del self.env["FOOTNOTE_MODELS"]
        (self.folder / ".deps/models").mkdir(parents=True)
        self.assertEqual(self.add_tiny("--json").json["path"], ".deps/models/tiny")
        shutil.copytree(self.tiny, self.folder / ".local/share/footnote/models/tiny")
        found = self.run_footnote("models", "list", "--json", env={"MODEL_NAME": "tiny"}).json["models"]
        self.assertEqual([(model["shadowed"], model["embeds"]) for model in found if model["name"] == "tiny"], [(False, True), (True, False)])

    def test_a_terminal_gets_colour_and_completion_knows_the_actions(self):
        self.assertIn("1/1 MB", self.run_on_terminal("models", "add", str(self.tiny)))
        self.assertIn("\x1b[32mok\x1b[0m  tiny", self.run_on_terminal("models", "verify"))
        probe = self.run_footnote("completion", "bash").out
        for words, at in (("models", 2), ("models ver", 2), ("models add --rep", 3), ("keys create --sc", 3)):
            probe += f'\nCOMP_WORDS=(footnote {words}{" " + chr(34) * 2 if words == "models" else ""}); COMP_CWORD={at}; _footnote; ' \
                     'echo "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash"], input=probe, encoding="utf-8", check=True, capture_output=True)
        self.assertEqual(done.stdout.splitlines(), ["list add verify info fit", "verify", "--replace", "--scope"])


if __name__ == "__main__":
    cli_test.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
