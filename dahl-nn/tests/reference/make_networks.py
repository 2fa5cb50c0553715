"""Losses of PyTorch for the networks of tests/networks, step by step, from the same weights on the same data, in f64.

    pip install torch safetensors numpy
    python make_networks.py

Writes networks.json (losses) and, for each network, its first weights (NAME.safetensors).
"""

import json
import math
import re
from pathlib import Path

import torch
import torch.nn.functional as F
from philox import uniform
from safetensors.torch import load_file, save_file
from torch import nn

HERE = Path(__file__).parent
STEPS = 100
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def wave(*shape, factor=0.37):
    """The numbers that the tests compute too: a sine of the index."""
    count = math.prod(shape)
    return torch.sin(torch.arange(count, dtype=torch.float64) * factor + 0.5).reshape(shape)


def labels(count, classes):
    return torch.tensor([(7 * i + i * i // 3) % classes for i in range(count)])


def tokens(count, vocabulary):
    return torch.tensor([(i * i + 3 * i) % 61 % vocabulary for i in range(count)])


def dropout(x, probability, seed):
    """Drops the elements whose random number in f32 is below the probability: `F.dropout` with a mask that is given."""
    numbers = torch.tensor([uniform(seed, i) for i in range(x.numel())]).to(torch.float32)
    kept = (numbers >= torch.tensor(probability, dtype=torch.float32)).reshape(x.shape)
    return x * kept / (1 - probability)


class Mlp(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout, self.step = dropout, 0
        self.input = nn.Linear(12, 16)
        self.norm = nn.BatchNorm1d(16)
        self.output = nn.Linear(16, 5)

    def forward(self, x):
        hidden = torch.relu(self.norm(self.input(x)))
        if self.dropout > 0:
            hidden = dropout(hidden, self.dropout, seed=self.step)
            self.step += 1
        return self.output(hidden)


class LeNet(nn.Module):
    """LeNet-5's shape, for images of 20 by 20 pixels."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 3 * 3, 24)
        self.fc2 = nn.Linear(24, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class Residual(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        short = nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False) if stride != 1 else None
        self.shortcut = short

    def forward(self, x):
        out = torch.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        return torch.relu(out + (x if self.shortcut is None else self.shortcut(x)))


class ResNet(nn.Module):
    """ResNet-20's shape (three stages), with fewer blocks and channels, so that the test is short."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.blocks = nn.ModuleList([Residual(4, 4, 1), Residual(4, 8, 2), Residual(8, 16, 2)])
        self.output = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        return self.output(x.mean(dim=(2, 3)))


class CharLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 12, 2, batch_first=True)
        self.output = nn.Linear(12, 20)

    def forward(self, x):
        return self.output(self.lstm(self.tokens(x))[0])


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode1 = nn.Conv2d(1, 4, 3, stride=2, padding=1)
        self.encode2 = nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.decode1 = nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1)
        self.decode2 = nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        x = torch.relu(self.encode2(torch.relu(self.encode1(x))))
        return torch.sigmoid(self.decode2(torch.relu(self.decode1(x))))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        n = self.norm1(x)
        x = x + self.attention(n, n, n, attn_mask=mask, is_causal=True, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, width, heads, layers):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.T


KARATE_CLUB = Path(__file__).parents[2] / "examples/networks/karate_club.rs"


def karate_club():
    """The sources and targets of the edges, both ways and from each member to itself: those of the example."""
    text = KARATE_CLUB.read_text()
    text = text[text.index("EDGES") : text.index("CLUBS")]
    edges = [(int(one), int(other)) for one, other in re.findall(r"\[(\d+), (\d+)\]", text)]
    assert len(edges) == 78
    both = edges + [(other, one) for one, other in edges] + [(member, member) for member in range(34)]
    return torch.tensor(both).T


class GcnLayer(nn.Module):
    """By a dense matrix."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(0.1 * torch.randn(outputs))

    def forward(self, x, sources, targets):
        adjacency = torch.zeros(34, 34, dtype=x.dtype)
        adjacency[targets, sources] = 1.0
        scale = adjacency.sum(1) ** -0.5
        return scale[:, None] * adjacency * scale @ self.lin(x) + self.bias


class GatLayer(nn.Module):
    """By a dense matrix of scores for each head."""

    def __init__(self, inputs, width, heads, mean=False):
        super().__init__()
        self.lin = nn.Linear(inputs, heads * width, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, width))
        self.att_dst = nn.Parameter(torch.randn(1, heads, width))
        self.bias = nn.Parameter(0.1 * torch.randn(width if mean else heads * width))
        self.mean = mean

    def forward(self, x, sources, targets):
        mapped = self.lin(x).reshape(34, *self.att_src.shape[1:])
        of_sources, of_targets = ((mapped * attention).sum(2) for attention in (self.att_src, self.att_dst))
        scores = torch.full((34, 34, mapped.shape[1]), -torch.inf, dtype=x.dtype)
        edges = F.leaky_relu(of_sources[sources] + of_targets[targets], 0.2)
        weights = scores.index_put((targets, sources), edges).softmax(1)
        out = torch.einsum("ijh,jhw->ihw", weights, mapped)
        return (out.mean(1) if self.mean else out.flatten(1)) + self.bias


class GraphNetwork(nn.Module):
    def __init__(self, conv1, conv2, activation):
        super().__init__()
        self.conv1, self.conv2, self.activation = conv1, conv2, activation

    def forward(self, x):
        edges = karate_club()
        return self.conv2(self.activation(self.conv1(x, *edges)), *edges)


def train(name, model, optimizer, loss_of, clip=None, schedule=None):
    state = {key: value for key, value in model.state_dict().items() if "num_batches" not in key}
    save_file({key: value.contiguous() for key, value in state.items()}, HERE / f"{name}.safetensors")
    losses = []
    for step in range(STEPS):
        if schedule:
            for group in optimizer.param_groups:
                group["lr"] = schedule(step)
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    print(name, losses[0], losses[-1])
    return losses


def gpt2_fixture():
    """A tiny model in the names and layouts of GPT-2's published files, with the scores of some tokens, in f32."""
    model = Gpt(17, 8, 12, 3, 2).to(torch.float32)
    renamed = {}
    for key, value in model.state_dict().items():
        key = key.replace("tokens.", "wte.").replace("positions.", "wpe.").replace("blocks.", "h.")
        key = key.replace("norm1.", "ln_1.").replace("norm2.", "ln_2.")
        key = key.replace("attention.in_proj_", "attn.c_attn.").replace("attention.out_proj.", "attn.c_proj.")
        key = key.replace("up.", "mlp.c_fc.").replace("down.", "mlp.c_proj.")
        key = f"ln_f.{key[5:]}" if key.startswith("norm.") else key
        renamed[key] = (value.T if ".c_" in key and key.endswith("weight") else value).contiguous()
    renamed["h.0.attn.bias"] = torch.ones(1, 1, 8, 8)  # the mask that published files have
    x = torch.tensor([[3, 1, 16, 0, 7]])
    renamed["scores"] = model(x).detach().contiguous()
    save_file(renamed, HERE / "tiny_gpt2.safetensors")


def main():
    rows = {}
    x, y = wave(24, 12), labels(24, 5)
    model = Mlp()
    sgd = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    rows["mlp"] = train("mlp", model, sgd, lambda model: F.cross_entropy(model(x), y))
    with torch.random.fork_rng():
        model = Mlp(dropout=0.25)
    model.load_state_dict(load_file(HERE / "mlp.safetensors"), strict=False)
    sgd = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    rows["mlp_dropout"] = train("mlp", model, sgd, lambda model: F.cross_entropy(model(x), y))

    images, classes = wave(8, 1, 20, 20), labels(8, 10)
    model = LeNet()
    adam = torch.optim.Adam(model.parameters(), 1e-3)
    rows["lenet"] = train("lenet", model, adam, lambda model: F.cross_entropy(model(images), classes))

    pictures, kinds = wave(6, 3, 12, 12), labels(6, 10)
    model = ResNet()
    sgd = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
    decay = lambda step: 0.05 * 0.5 ** (step // 40)
    rows["resnet"] = train(
        "resnet", model, sgd, lambda model: F.cross_entropy(model(pictures), kinds), schedule=decay
    )

    text = tokens(4 * 9 + 1, 20)
    inputs, targets = text[:36].reshape(4, 9), text[1:37].reshape(4, 9)
    model = CharLstm()
    adam = torch.optim.Adam(model.parameters(), 1e-3)
    rows["lstm"] = train(
        "lstm", model, adam, lambda model: F.cross_entropy(model(inputs).reshape(-1, 20), targets.reshape(-1))
    )

    grey = wave(5, 1, 8, 8) * 0.5 + 0.5
    model = Autoencoder()
    adam = torch.optim.Adam(model.parameters(), 1e-2)
    rows["autoencoder"] = train("autoencoder", model, adam, lambda model: F.mse_loss(model(grey), grey))

    text = tokens(3 * 8 + 1, 17)
    inputs, targets = text[:24].reshape(3, 8), text[1:25].reshape(3, 8)
    model = Gpt(17, 8, 12, 3, 2)
    adamw = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.1)

    def cosine(step, peak=1e-3, steps=STEPS, warmup=10, least=1e-4):
        if step < warmup:
            return peak * step / warmup
        return least + 0.5 * (peak - least) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))

    rows["gpt"] = train(
        "gpt",
        model,
        adamw,
        lambda model: F.cross_entropy(model(inputs).reshape(-1, 17), targets.reshape(-1)),
        clip=1.0,
        schedule=cosine,
    )
    gpt2_fixture()

    known, clubs = torch.tensor([0, 33]), torch.tensor([0, 1])
    networks = {
        "gcn": GraphNetwork(GcnLayer(34, 8), GcnLayer(8, 2), torch.relu),
        "gat": GraphNetwork(GatLayer(34, 4, 2), GatLayer(8, 2, 2, mean=True), F.elu),
    }
    for name, model in networks.items():
        adam = torch.optim.Adam(model.parameters(), 1e-2)
        rows[name] = train(name, model, adam, lambda model: F.cross_entropy(model(torch.eye(34))[known], clubs))
    (HERE / "networks.json").write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
