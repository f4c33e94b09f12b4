"""The model in PyTorch, dense and one sequence at a time, from a directory that `ut export` has written.

  python3 reference.py DIR…   of each prints its logits' largest difference from DIR/examples.safetensors (see README)
"""
import itertools, json, math, os, struct, sys
import torch
from torch.nn.functional import layer_norm


def read_safetensors(path):
    types = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = torch.frombuffer(data[begin:end], dtype=types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def sinusoid(index, d, kind):
    """Equations 6 and 7, one of their two terms: [n, d] for positions or steps that count from 0."""
    index, columns = index.double()[:, None], torch.arange(d // 2).double()
    if kind == "halves":
        angle = index * torch.exp(columns * -math.log(10000) / max(d // 2 - 1, 1))
        return torch.cat([angle.sin(), angle.cos()], 1)
    angle = (index + 1) * torch.exp(columns * -2 * math.log(10000) / d)
    return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


class Model:
    def __init__(self, directory):
        config = json.load(open(directory + "/config.json"))
        self.model, self.options = config["model"], config["options"]
        self.parameters = {n: t.double() for n, t in read_safetensors(directory + "/model.safetensors").items()}
        self.d, self.heads = self.options["d-model"], self.options["heads"]
        if self.options["act-kind"] == "random" or self.options["model"] == "lstm" or "pointer" in self.parameters:
            sys.exit(f"{directory}: halting by noise, the LSTM and pointing are not in reference.py")

    def __getitem__(self, name):
        return self.parameters[name]

    def norm(self, name, x):
        return layer_norm(x, (self.d,), self[name + ".scale"], self[name + ".bias"], 1e-6)

    def attention(self, query, key_value, output, causal):
        """[n, d] queries over [m, 2d] keys beside values (equations 1 to 3)."""
        split = lambda x: x.reshape(len(x), self.heads, -1).transpose(0, 1)  # [heads, rows, d / heads]
        q, k, v = split(query), split(key_value[:, :self.d]), split(key_value[:, self.d:])
        logits = q @ k.transpose(1, 2) / math.sqrt(self.d / self.heads)
        if causal:
            logits = logits.masked_fill(torch.ones(logits.shape[1:]).triu(1).bool(), -math.inf)
        return (logits.softmax(2) @ v).transpose(0, 1).reshape(len(query), self.d) @ output

    def convolution(self, name, x, causal):
        depthwise = self[name + ".depthwise"]
        width = len(depthwise)
        before = width - 1 if causal else width // 2
        padded = torch.cat([x.new_zeros(before, x.shape[1]), x, x.new_zeros(width - 1 - before, x.shape[1])])
        seen = sum(padded[place:place + len(x)] * depthwise[place] for place in range(width))
        return seen @ self[name + ".pointwise"] + self[name + ".bias"]

    def transition(self, name, x, causal):
        if self.options["transition"] == "separable-convolution":
            hidden = self.convolution(name + ".convolution1", x, causal).relu()
            return self.convolution(name + ".convolution2", hidden, causal)
        hidden = (x @ self[name + ".kernel1"] + self[name + ".bias1"]).relu()
        return hidden @ self[name + ".kernel2"] + self[name + ".bias2"]

    def around(self, name, x, seen, running, f):
        """LN(x + f(seen)), or x + f(LN(seen)) (equations 4 and 5); a row that has halted is passed on."""
        pre = self.options["norm"] == "pre"
        made = x + f(self.norm(name + ".norm", seen)) if pre else self.norm(name + ".norm", x + f(seen))
        return torch.where(running[:, None], made, x)

    def block(self, stack, state, signal, running, memory):
        """One step of all rows: H of the step before -> H of this step."""
        causal = stack == "decoder"
        seen = state + signal
        x = seen if self.options["residual"] == "signal-in" else state
        for layer in range(self.options["block-layers"]):
            own, cross, last = (f"{stack}.layer{layer}.{part}" for part in
                                ("self_attention", "cross_attention", "transition"))
            qkv = self[own + ".query_key_value"]
            x = self.around(own, x, seen, running, lambda rows: self.attention(
                rows @ qkv[:, :self.d], rows @ qkv[:, self.d:], self[own + ".output"], causal))
            if memory is not None:
                x = self.around(cross, x, x, running, lambda rows: self.attention(
                    rows @ self[cross + ".query"], memory @ self[cross + ".key_value"], self[cross + ".output"], False))
            x = seen = self.around(last, x, x, running, lambda rows: self.transition(last, rows, causal))
        return x

    def stack(self, stack, state, memory=None):
        """The recurrence over steps; with halting the papers' Appendix B."""
        steps, kind = self.model[stack + "_steps"], self.options["signal"]
        positions = sinusoid(torch.arange(len(state)), self.d, kind)
        times = sinusoid(torch.arange(steps), self.d, kind)
        if self.options["step-signal"] == "learned":
            times = self[stack + ".step_signal"] * math.sqrt(self.d)
        halting = self.options["halting" if stack == "encoder" else "decoder-halting"]
        probability = state.new_zeros(len(state))  # that has been given away
        running = before = torch.ones(len(state)).bool()  # in this step; act-copy: in the one before
        mean, signal = torch.zeros_like(state), positions
        for step in range(steps):
            signal = torch.where(before[:, None], positions + times[step], signal)  # a halted row keeps its first
            if halting == "none":
                state = mean = self.block(stack, state, signal, running, memory)
                continue
            unit = (state + signal) @ self[stack + ".halting.kernel"] + self[stack + ".halting.bias"]
            proposed = unit.sigmoid()[:, 0]
            if self.options["act-kind"] == "global":
                proposed = proposed.mean().expand(len(state))
            copies = halting == "act-copy"
            goes = running & (probability + proposed <= self.options["halting-threshold"])
            if copies and step + 1 == steps:
                goes = torch.zeros_like(goes)  # the weight that is left goes to the last step
            weight = (torch.where(goes, proposed, 1 - probability) * running)[:, None]
            probability = probability + weight[:, 0]
            state = self.block(stack, state, signal, running if copies else torch.ones_like(running), memory)
            mean = weight * state + (mean if self.options["act-output"] == "accumulated" else (1 - weight) * mean)
            state = torch.where(goes[:, None], state, mean) if copies else state
            running, before = goes, running if copies else before
        return self.norm(stack + ".final_norm", mean) if self.options["norm"] == "pre" else mean

    def embed(self, words):
        """Ids, -1 for none: [rows], or [rows, words] of rows that are sums -> [rows, d]"""
        words = words.reshape(len(words), -1)
        mask = self["word_mask"][:words.shape[1]] if self.model["words_per_row"] > 1 else 1
        return (self["table"][words.clamp(min=0)] * (words >= 0)[..., None] * math.sqrt(self.d) * mask).sum(1)

    def logits(self, source, target=None):
        """`source` [rows, words], `target` [rows], either may be None -> of each target row; or of the one answer."""
        memory = None if source is None else self.stack("encoder", self.embed(source))
        if target is None:
            return memory[:1] @ self["table"].T
        previous = torch.cat([target.new_full((1,), -1), target[:-1]])
        return self.stack("decoder", self.embed(previous), memory) @ self["table"].T


if __name__ == "__main__":
    for directory in sys.argv[1:] or sys.exit("usage: reference.py DIR..., each as `ut export --examples N` wrote it"):
        os.path.exists(directory + "/examples.safetensors") or sys.exit(f"{directory}: was exported without --examples")
        model, examples = Model(directory), read_safetensors(directory + "/examples.safetensors")
        cut = lambda name: (examples[name].split(examples[name + "_offsets"].diff().tolist())  # into the examples' rows
                            if name in examples else itertools.repeat(None))
        made = torch.cat([model.logits(*pair) for pair in zip(cut("source"), cut("target"))])
        made = made[examples.get("read_rows", slice(None))]  # of a language model the words that are asked for
        print(f"{(made - examples['logits']).abs().max().item():.3g} at most from the logits of {directory}")
