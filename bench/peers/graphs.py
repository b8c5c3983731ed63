"""The peers' models: a BERT-shaped sentence encoder's weights as ONNX graphs, and their 8-bit forms.

Two graphs are written by hand from config.json and model.safetensors, node by node, with the same mathematics:
    plain   standard operators only, as an exporter would leave them after constant folding
    fused   with the fused operators that ONNX Runtime's transformer optimiser would use (Attention,
            SkipLayerNormalization, BiasGelu of com.microsoft)
Both take input_ids [batch, length] and return the mean of the last hidden state, normalised to length 1. All sequences of a batch have
the same length, so there is no mask.
"""
import hashlib
import json
import pathlib

import numpy

HERE = pathlib.Path(__file__).resolve().parent


def load_weights(folder: pathlib.Path) -> dict[str, numpy.ndarray]:
    """Every 32-bit tensor of model.safetensors: a length, a JSON header, then the numbers."""
    data = (folder / "model.safetensors").read_bytes()
    head_bytes = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + head_bytes])
    out = {}
    for name, entry in head.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(data[8 + head_bytes + begin : 8 + head_bytes + end], "<f4")
        out[name] = values.reshape(entry["shape"])
    return out


class Graph:
    """Collects nodes and constants; every method that adds a node returns its output's name."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, name: str, values) -> str:
        self.constants.setdefault(name, numpy.ascontiguousarray(values))
        return name

    def node(self, kind: str, *inputs: str, output: str | None = None, domain: str = "", **attributes) -> str:
        from onnx import helper

        self.count += 1
        name = f"{kind}_{self.count}"
        output = output or name + "_out"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=name, domain=domain, **attributes))
        return output

    def model(self):
        from onnx import TensorProto, helper, numpy_helper

        constants = [numpy_helper.from_array(values, name) for name, values in self.constants.items()]
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
        vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", "hidden"])
        graph = helper.make_graph(self.nodes, "encoder", [ids], [vectors], constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        if not any(node.domain for node in self.nodes):
            opsets = opsets[:1]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def write_graph(folder: pathlib.Path, fused: bool):
    """The ONNX model of the folder's weights."""
    config = json.loads((folder / "config.json").read_text())
    if config["hidden_act"] != "gelu":
        raise ValueError(f"hidden_act is {config['hidden_act']}, only gelu is known here")
    weights = load_weights(folder)
    hidden, heads, eps = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    width = hidden // heads
    graph = Graph()

    def weight(name: str) -> str:
        return graph.constant(name, weights[name])

    def matrix(name: str) -> str:
        return graph.constant(name + ".transposed", weights[name].T)

    def normalise(x: str, prefix: str) -> str:
        return graph.node("LayerNormalization", x, weight(prefix + ".weight"), weight(prefix + ".bias"), axis=-1, epsilon=eps)

    def dense(x: str, prefix: str) -> str:
        return graph.node("Add", graph.node("MatMul", x, matrix(prefix + ".weight")), weight(prefix + ".bias"))

    def project_and_add(x: str, before: str, layer: str, prefix: str) -> str:
        """A dense layer, the residual sum, and the layer norm."""
        norm = layer + prefix + ".LayerNorm"
        prefix = layer + prefix + ".dense"
        if not fused:
            return normalise(graph.node("Add", dense(x, prefix), before), norm)
        product = graph.node("MatMul", x, matrix(prefix + ".weight"))
        return graph.node("SkipLayerNormalization", product, before, weight(norm + ".weight"), weight(norm + ".bias"),
                          weight(prefix + ".bias"), domain="com.microsoft", epsilon=eps)

    def plain_attention(x: str, layer: str) -> str:
        split = graph.constant("split", numpy.array([0, 0, heads, width], "int64"))
        merge = graph.constant("merge", numpy.array([0, 0, hidden], "int64"))
        q, k, v = (graph.node("Reshape", dense(x, f"{layer}attention.self.{part}"), split) for part in ("query", "key", "value"))
        q, v = graph.node("Transpose", q, perm=[0, 2, 1, 3]), graph.node("Transpose", v, perm=[0, 2, 1, 3])
        scores = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 2, 3, 1]))
        scores = graph.node("Div", scores, graph.constant("scale", numpy.array(width**0.5, "float32")))
        mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), v)
        return graph.node("Reshape", graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), merge)

    def fused_attention(x: str, layer: str) -> str:
        parts = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
        joined = graph.constant(layer + "qkv.weight", numpy.concatenate([weights[p + ".weight"].T for p in parts], axis=1))
        bias = graph.constant(layer + "qkv.bias", numpy.concatenate([weights[p + ".bias"] for p in parts]))
        return graph.node("Attention", x, joined, bias, domain="com.microsoft", num_heads=heads)

    # Every token has type 0, so its row is added to the positions here.
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = graph.node("Gather", graph.node("Shape", "input_ids"), graph.constant("one", numpy.array([1], "int64")), axis=0)
    zero = graph.constant("zero", numpy.array([0], "int64"))
    here = graph.node("Slice", graph.constant("positions", positions), zero, length, zero)
    words = graph.node("Gather", weight("embeddings.word_embeddings.weight"), "input_ids", axis=0)
    x = normalise(graph.node("Add", words, here), "embeddings.LayerNorm")

    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        attended = fused_attention(x, layer) if fused else plain_attention(x, layer)
        x = project_and_add(attended, x, layer, "attention.output")
        if fused:
            inner = graph.node("MatMul", x, matrix(layer + "intermediate.dense.weight"))
            inner = graph.node("BiasGelu", inner, weight(layer + "intermediate.dense.bias"), domain="com.microsoft")
        else:
            inner = graph.node("Gelu", dense(x, layer + "intermediate.dense"), approximate="none")
        x = project_and_add(inner, x, layer, "output")

    pooled = graph.node("ReduceMean", x, graph.constant("one", numpy.array([1], "int64")), keepdims=0)
    graph.node("LpNormalization", pooled, output="vectors", axis=-1, p=2)
    return graph.model()


def quantize_onnx(source: pathlib.Path, target: pathlib.Path, per_channel: bool):
    """Signed 8-bit weights, unsigned 8-bit activations with dynamic scales. The embedding tables are not changed."""
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # The output type of a fused operator is not inferred and must be declared.
    quantize_dynamic(source, target, op_types_to_quantize=["MatMul", "Attention"], per_channel=per_channel,
                     reduce_range=False, weight_type=QuantType.QInt8, extra_options={"DefaultTensorType": TensorProto.FLOAT})


def quantize_openvino(source: pathlib.Path, target: pathlib.Path, texts: list[list[int]]):
    """8-bit weights and activations, with ranges from the given token ids."""
    import nncf
    import openvino

    model = openvino.Core().read_model(source)
    samples = nncf.Dataset([{"input_ids": numpy.array([ids], "int64")} for ids in texts])
    quantized = nncf.quantize(model, samples, model_type=nncf.ModelType.TRANSFORMER, subset_size=len(texts))
    openvino.save_model(quantized, target, compress_to_fp16=False)


def prepare(model: pathlib.Path, texts: list[list[int]], out: pathlib.Path, say) -> None:
    """Writes all models into a folder, unless it already has those of the same weights, tools and recipe."""
    import onnx

    digest = hashlib.sha256(json.dumps(texts).encode())
    for path in (pathlib.Path(__file__), HERE / "requirements.txt", model / "config.json", model / "model.safetensors"):
        digest.update(path.read_bytes())
    stamp = out / "stamp"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    out.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    for name in ("plain", "fused"):
        say(f"writing {name}.onnx")
        source = out / f"{name}.onnx"
        onnx.save(write_graph(model, name == "fused"), source)
        for suffix, per_channel in (("int8", False), ("int8-channels", True)):
            say(f"writing {name}-{suffix}.onnx")
            quantize_onnx(source, out / f"{name}-{suffix}.onnx", per_channel)
    say(f"writing plain-int8.xml (calibrated on {len(texts)} texts)")
    quantize_openvino(out / "plain.onnx", out / "plain-int8.xml", texts)
    stamp.write_text(digest.hexdigest())
