"""The model in PyTorch, dense and one sequence at a time, from a directory that `ut export` has written.
  python3 reference.py DIR…   prints for each how far its logits are at most from DIR/examples.safetensors (see README)
"""
import functools, itertools, json, math, os, sys, torch
from torch.nn.functional import layer_norm, pad


def read_safetensors(path):
    types = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    return {name: torch.frombuffer(data[slice(*of["data_offsets"])], dtype=types[of["dtype"]]).reshape(of["shape"])
            for name, of in header.items() if name != "__metadata__"}


def sinusoid(rows, d, kind):
    """The signal of positions or of steps, one of the two terms of equations 6 and 7: [rows, d]."""
    first, last = (0, max(d // 2 - 1, 1)) if kind == "halves" else (1, d / 2)
    angle = torch.arange(first, first + rows)[:, None] * 10000 ** (torch.arange(d // 2).double() / -last)
    return torch.stack([angle.sin(), angle.cos()], 1 if kind == "halves" else 2).flatten(1)


class Model(dict):  # the parameters by name
    def __init__(self, directory):
        super().__init__((n, t.double()) for n, t in read_safetensors(directory + "/model.safetensors").items())
        config = json.load(open(directory + "/config.json"))
        self.model, self.options, self.d = config["model"], config["options"], config["options"]["d-model"]
        self.heads = 1 if self.options["model"] == "lstm" else self.options["heads"]
        self.options["act-kind"] != "random" or sys.exit(f"{directory}: halting by noise is not in reference.py")

    def norm(self, name, x):
        return layer_norm(x, (self.d,), self[name + ".scale"], self[name + ".bias"], 1e-6)

    def attention(self, query, key, value, mask=0):
        """[n, d] queries over [m, d] keys and values (equations 1 to 3)."""
        split = lambda x: x.reshape(len(x), self.heads, -1).transpose(0, 1)  # [heads, rows, d / heads]
        logits = split(query) @ split(key).transpose(1, 2) / math.sqrt(self.d / self.heads) + mask
        return (logits.softmax(2) @ split(value)).transpose(0, 1).reshape(len(query), self.d)

    def convolution(self, name, x):
        depthwise = self[name + ".depthwise"]
        before = len(depthwise) - 1 if name.startswith("decoder") else len(depthwise) // 2
        padded = pad(x, (0, 0, before, len(depthwise) - 1 - before))
        seen = sum(padded[place:place + len(x)] * weight for place, weight in enumerate(depthwise))
        return seen @ self[name + ".pointwise"] + self[name + ".bias"]

    def transition(self, name, x):
        if self.options["transition"] == "separable-convolution":
            return self.convolution(name + ".convolution2", self.convolution(name + ".convolution1", x).relu())
        hidden = (x @ self[name + ".kernel1"] + self[name + ".bias1"]).relu()
        return hidden @ self[name + ".kernel2"] + self[name + ".bias2"]

    def around(self, name, x, seen, running, f):
        """LN(x + f(seen)), or x + f(LN(seen)) (equations 4 and 5); a row that has halted is passed on."""
        pre = self.options["norm"] == "pre"
        made = x + f(self.norm(name + ".norm", seen)) if pre else self.norm(name + ".norm", x + f(seen))
        return torch.where(running[:, None], made, x)

    def block(self, stack, state, signal, running, memory):
        """One step of all rows: H of the step before -> H of this step."""
        mask = torch.full((len(state), len(state)), -math.inf).triu(1) if stack == "decoder" else 0
        seen = state + signal
        x = seen if self.options["residual"] == "signal-in" else state
        for layer in range(self.options["block-layers"]):
            own, cross, last = (f"{stack}.layer{layer}.{part}" for part in
                                ("self_attention", "cross_attention", "transition"))
            x = self.around(own, x, seen, running, lambda rows: self.attention(
                *(rows @ self[own + ".query_key_value"]).chunk(3, 1), mask) @ self[own + ".output"])
            if memory is not None:
                x = self.around(cross, x, x, running, lambda rows: self.attention(rows @ self[cross + ".query"],
                    *(memory @ self[cross + ".key_value"]).chunk(2, 1)) @ self[cross + ".output"])
            x = seen = self.around(last, x, x, running, lambda rows: self.transition(last, rows))
        return x

    def stack(self, stack, state, memory=None):
        """The recurrence over steps; with halting the papers' Appendix B."""
        steps, kind, learned = self.model[stack + "_steps"], self.options["signal"], stack + ".step_signal"
        positions = sinusoid(len(state), self.d, kind)
        times = self[learned] * math.sqrt(self.d) if learned in self else sinusoid(steps, self.d, kind)
        halting = self.options["halting" if stack == "encoder" else "decoder-halting"]
        copies, unit = halting == "act-copy", stack + ".halting"
        probability = state.new_zeros(len(state))  # the sum of the weights so far
        running = before = torch.ones(len(state)).bool()  # in this step, and (act-copy) in the one before
        mean, signal = torch.zeros_like(state), positions
        for step in range(steps):
            signal = torch.where(before[:, None], positions + times[step], signal)  # fixed one step after a row's last
            if halting == "none":
                state = mean = self.block(stack, state, signal, running, memory)
                continue
            proposed = ((state + signal) @ self[unit + ".kernel"] + self[unit + ".bias"]).sigmoid()[:, 0]
            if self.options["act-kind"] == "global":
                proposed = proposed.mean().expand(len(state))
            last = copies and step + 1 == steps  # takes the remaining weight
            goes = running & (probability + proposed <= self.options["halting-threshold"]) & (not last)
            weight = (torch.where(goes, proposed, 1 - probability) * running)[:, None]
            probability = probability + weight[:, 0]
            state = self.block(stack, state, signal, running if copies else torch.ones_like(running), memory)
            mean = weight * state + (mean if self.options["act-output"] == "accumulated" else (1 - weight) * mean)
            state = torch.where(goes[:, None], state, mean) if copies else state
            running, before = goes, running if copies else before
        return self.norm(stack + ".final_norm", mean) if self.options["norm"] == "pre" else mean

    def lstm(self, ends, stack, x, memory=None):
        """LSTM layers that read row after row. `ends`: their hidden states and cells, which the call updates."""
        for layer, (hidden, cell) in enumerate(ends):
            name, rows = f"{stack}.layer{layer}", []
            for gates in x @ self[name + ".input"].T + self[name + ".bias"]:
                enters, stays, new, leaves = (gates + self[name + ".hidden"] @ hidden).chunk(4)
                cell = (stays + 1).sigmoid() * cell + enters.sigmoid() * new.tanh()
                hidden = leaves.sigmoid() * cell.tanh()
                rows.append(hidden)
            x, ends[layer] = torch.stack(rows), (hidden, cell)
        if memory is None:
            return x
        context = self.attention(x @ self["decoder.attention.query"], memory, memory)  # Luong et al. 2015
        return (torch.cat([context, x], 1) @ self["decoder.attention.combine"]).tanh()

    def embed(self, words):
        """Ids [rows, words], -1 for no word -> the rows' sums of embeddings [rows, d]."""
        mask = self["word_mask"][:words.shape[1]] if "word_mask" in self else 1
        return (self["table"][words.clamp(min=0)] * (words >= 0)[..., None] * math.sqrt(self.d) * mask).sum(1)

    def logits(self, source, target=None):
        """`source` [rows, words] and `target` [rows], one of which may be None. Returns the logits of each target row
        or, without a target, of the answer: [1, symbols]; if it is pointed at: [different words after row 0]."""
        ends = [self["table"].new_zeros(2, self.d)] * self.options["lstm-layers"]
        stack, read = (functools.partial(self.lstm, ends), -1) if self.options["model"] == "lstm" else (self.stack, 0)
        states = None if source is None else stack("encoder", self.embed(source))
        if target is not None:
            return stack("decoder", self.embed(pad(target, (1, -1), value=-1)[:, None]), states) @ self["table"].T
        if "pointer" not in self:
            return states[read][None] @ self["table"].T
        words, scores = source[:, 0], (states @ self["pointer"])[:, 0]
        return torch.stack([scores[words == word].logsumexp(0) for word in dict.fromkeys(words[1:].tolist())])


if __name__ == "__main__":
    for directory in sys.argv[1:] or sys.exit("usage: reference.py DIR..., each as `ut export --examples N` wrote it"):
        os.path.isdir(directory) or sys.exit(f"{directory}: no such directory")
        os.path.exists(directory + "/examples.safetensors") or sys.exit(f"{directory}: was exported without --examples")
        model, examples = Model(directory), read_safetensors(directory + "/examples.safetensors")
        cut = lambda name: examples[name].tensor_split(examples[name + "_offsets"][1:-1]) if name in examples else ()
        made = [model.logits(*pair) for pair in itertools.zip_longest(cut("source"), cut("target"))]
        wanted = examples["logits"]
        if "pointer" in model:
            wanted = wanted[wanted > wanted.amax(1, True) - 87]  # drop the filler of passages of fewer words
            len(wanted) == sum(map(len, made)) or sys.exit(f"{directory}: different words of a passage are one symbol")
        made = torch.cat(made)[examples.get("read_rows", slice(None))]  # a language model: only the words asked for
        print(f"{(made - wanted).abs().max().item():.3g} at most from the logits of {directory}")
