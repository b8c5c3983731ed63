"""Writes a BERT model folder of a few kilobytes: complete, with random weights, and very fast to load and run.

For tests that need an embedder but not its quality: vectors differ between texts but carry no meaning.
"""
import hashlib
import json
import pathlib
import random
import struct

NAME = "tiny"
HIDDEN = 32
WORDS = """the of a and in is to for sensor probe lantern harbour ledger meadow copper signal archive window kettle orchard compass
gravel velvet thunder saddle pepper marble anchor basket cinder lattice mirror needle oyster pillar quarry ribbon edition page section
says""".split()


def vocabulary():
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,:;-#/()", *letters, *("##" + c for c in letters)]
    return words + [word for word in WORDS if word not in words]


def shapes(words):
    yield "embeddings.word_embeddings.weight", [words, HIDDEN]
    yield "embeddings.position_embeddings.weight", [128, HIDDEN]
    yield "embeddings.token_type_embeddings.weight", [2, HIDDEN]
    layer = "encoder.layer.0."
    dense = [layer + "attention.self." + name for name in ("query", "key", "value")]
    dense += [layer + name for name in ("attention.output.dense", "intermediate.dense", "output.dense")]
    for name in dense:
        yield name + ".weight", [HIDDEN, HIDDEN]
        yield name + ".bias", [HIDDEN]
    for name in ("embeddings.LayerNorm", layer + "attention.output.LayerNorm", layer + "output.LayerNorm"):
        yield name + ".weight", [HIDDEN]
        yield name + ".bias", [HIDDEN]


def write(models, name=NAME, seed=1):
    """Creates models/NAME, with weights that depend on the seed, and returns the models folder."""
    folder = pathlib.Path(models) / name
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    words = vocabulary()
    header, data = {}, b""
    for part, shape in shapes(len(words)):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [1.0] * count if part.endswith("LayerNorm.weight") else [rng.gauss(0, 0.5) for _ in range(count)]
        header[part] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += struct.pack(f"<{count}f", *values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    config = {"model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "intermediate_size": HIDDEN, "num_hidden_layers": 1,
              "num_attention_heads": 1, "max_position_embeddings": 128, "type_vocab_size": 2, "vocab_size": len(words),
              "layer_norm_eps": 1e-12}
    files = {"model.safetensors": struct.pack("<Q", len(text)) + text + data, "vocab.txt": ("\n".join(words) + "\n").encode(),
             "config.json": json.dumps(config).encode()}
    for file, content in files.items():
        (folder / file).write_bytes(content)
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {file}\n" for file, content in files.items())
    (folder / "checksums.sha256").write_text(sums)
    return folder.parent
