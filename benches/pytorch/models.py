"""The networks of dahl-nn's examples in PyTorch, with the same names of parameters."""

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal attention of several heads, with the names of `nn.MultiheadAttention` and PyTorch's fused kernel."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, cache: tuple | None = None, first: int = 0) -> torch.Tensor:
        batch, tokens, width = x.shape
        projected = functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        shape = (batch, tokens, self.heads, width // self.heads)
        query, key, value = (part.view(shape).transpose(1, 2) for part in projected.split(width, dim=2))
        if cache is not None:
            end = first + tokens
            cache[0][:, :, first:end], cache[1][:, :, first:end] = key, value
            key, value = cache[0][:, :, :end], cache[1][:, :, :end]
        # A single token after others sees all of them; several begin a text.
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=tokens > 1)
        return self.out_proj(mixed.transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    """Attention and a network of two layers, each added to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, cache: tuple | None = None, first: int = 0) -> torch.Tensor:
        x = x + self.attention(self.norm1(x), cache, first)
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """The architecture of GPT-2. Its output layer shares the weights of the tokens."""

    def __init__(self, vocabulary: int, context: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: torch.Tensor, caches: list | None = None, first: int = 0) -> torch.Tensor:
        x = self.tokens(tokens) + self.positions.weight[first : first + tokens.shape[1]]
        for index, block in enumerate(self.blocks):
            x = block(x, caches and caches[index], first)
        if caches is not None:
            x = x[:, -1:]  # only the last token's scores are wanted
        return functional.linear(self.norm(x), self.tokens.weight)


class CharLstm(nn.Module):
    """An LSTM that predicts the next token."""

    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.output = nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.output(self.lstm(self.tokens(tokens))[0])


class LeNet(nn.Module):
    """Two convolutions with pooling and two linear maps."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2 = nn.Linear(400, 84), nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        return self.fc2(functional.relu(self.fc1(x.flatten(1))))


class Residual(nn.Module):
    """Two convolutions, whose result is added to their input."""

    def __init__(self, inputs: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        changes = stride != 1 or inputs != channels
        self.shortcut = nn.Conv2d(inputs, channels, 1, stride, bias=False) if changes else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = functional.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        return functional.relu(out + (x if self.shortcut is None else self.shortcut(x)))


class ResNet20(nn.Module):
    """Three groups of three blocks, for images of one channel."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        channels = [16] * 4 + [32] * 3 + [64] * 3
        strides = [2 if after > before else 1 for before, after in zip(channels, channels[1:], strict=False)]
        blocks = zip(channels, channels[1:], strides, strict=False)
        self.blocks = nn.ModuleList(Residual(*block) for block in blocks)
        self.output = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.norm(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        return self.output(x.mean((2, 3)))
