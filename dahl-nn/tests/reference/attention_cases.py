"""Cases of `make_layers.py`: attention with masks, and the layers of transformers."""

import torch
import torch.nn.functional as F
from layer_case import Case
from torch import nn


def hidden(seen):
    """PyTorch's mask of what is not seen."""
    return torch.tensor(seen) == 0


# Which keys are seen, as in the tests: of each query, and of each sample.
PAIRS = hidden([[1, 0, 1, 1, 1], [1, 1, 0, 0, 1], [0, 1, 1, 1, 0], [1, 0, 0, 1, 1], [1, 1, 1, 0, 1]])
KEYS = hidden([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
MEMORY_KEYS = hidden([[1, 1, 0, 0], [1, 1, 1, 1]])


def causal(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).triu(1)


def attention(**masks):
    return lambda module, x: module(x, x, x, need_weights=False, **masks)[0]


def cross(module, x, memory):
    return module(x, memory, memory, need_weights=False, key_padding_mask=MEMORY_KEYS)[0]


OPTIONS = {"dim_feedforward": 12, "dropout": 0.0, "batch_first": True}


def encoder_layer(**options):
    return nn.TransformerEncoderLayer(8, 2, **OPTIONS, **options)


def decoder_layer(**options):
    return nn.TransformerDecoderLayer(8, 2, **OPTIONS, **options)


def decoded(module, x, memory):
    return module(x, memory, tgt_mask=causal(5), tgt_is_causal=True, memory_key_padding_mask=MEMORY_KEYS)


class GroupedAttention(nn.Module):
    """Causal attention with rotary positions, in which two heads of queries share one of keys and values."""

    def __init__(self):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(32, 16))
        self.in_proj_bias = nn.Parameter(torch.empty(32))
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        batch, tokens, width = x.shape
        projected = F.linear(x, self.in_proj_weight, self.in_proj_bias).reshape(batch, tokens, 8, 4).transpose(1, 2)
        query, key, value = projected.split([4, 2, 2], dim=1)
        query, key = turned(query, 10000.0), turned(key, 10000.0)
        out = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return self.out_proj(out.transpose(1, 2).reshape(batch, tokens, width))


def turned(x, base):
    """Rotary positions with the pairs of GPT-NeoX; the angles are computed in f64."""
    tokens, width = x.shape[-2:]
    half = width // 2
    angles = torch.arange(tokens).double()[:, None] * base ** (-2 * torch.arange(half).double() / width)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    left, right = x[..., :half], x[..., half:]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


ATTENTION = {
    "multi_head_attention": Case(nn.MultiheadAttention(8, 2, batch_first=True), (2, 5, 8), attention()),
    "multi_head_attention_masked": Case(
        nn.MultiheadAttention(8, 2, batch_first=True),
        (2, 5, 8),
        attention(attn_mask=PAIRS, key_padding_mask=KEYS),
    ),
    "multi_head_attention_without_bias": Case(
        nn.MultiheadAttention(8, 2, bias=False, batch_first=True), (2, 5, 8), cross, memory=(2, 4, 8)
    ),
    "multi_head_attention_grouped": Case(GroupedAttention(), (2, 5, 16)),
    "multi_head_attention_cross": Case(
        nn.MultiheadAttention(8, 2, batch_first=True), (2, 5, 8), cross, memory=(2, 4, 8)
    ),
    "transformer_encoder_layer": Case(
        encoder_layer(), (2, 5, 8), lambda module, x: module(x, src_mask=PAIRS, src_key_padding_mask=KEYS)
    ),
    "transformer_encoder_layer_norm_first": Case(
        encoder_layer(norm_first=True, activation="gelu", layer_norm_eps=1e-3), (2, 5, 8)
    ),
    "transformer_encoder_layer_without_bias": Case(encoder_layer(bias=False), (2, 5, 8)),
    "transformer_decoder_layer": Case(decoder_layer(), (2, 5, 8), decoded, memory=(2, 4, 8)),
    "transformer_decoder_layer_norm_first": Case(
        decoder_layer(norm_first=True, activation="gelu"), (2, 5, 8), decoded, memory=(2, 4, 8)
    ),
    "transformer": Case(
        nn.Transformer(8, 2, 2, 2, **OPTIONS),
        (2, 4, 8),
        lambda module, x, memory: module(
            memory,
            x,
            src_key_padding_mask=KEYS,
            memory_key_padding_mask=KEYS,
            tgt_mask=causal(4),
            tgt_is_causal=True,
        ),
        memory=(2, 5, 8),
    ),
}
