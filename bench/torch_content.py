"""Attention of schemes that read the content of tokens, in idiomatic PyTorch, for torch_train.py.

Each class is the attention of one layer: forward(x, q, k, v, mask, scale) -> z, where x [B,T,C] is the layer's normed
input, q, k, v and z are [B,H,T,D], and mask [T,T] is 0 or, above the diagonal, -inf. Parameters have the shapes of
pewter's.
"""
import torch
import torch.nn.functional as F
from torch import nn


class Fox(nn.Module):
    """Lin et al. 2025: scores + C_i - C_j, where C is the running sum of ln f, and f a gate of each token and head."""
    def __init__(self, o, _given):
        super().__init__()
        self.gate = nn.Linear(o["width"], o["heads"])

    def forward(self, x, q, k, v, mask, scale):
        c = F.logsigmoid(self.gate(x)).cumsum(1).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=c[..., None] - c[..., None, :] + mask, scale=scale)


class StickBreaking(nn.Module):
    """Tan et al. 2024: a key takes the share sigmoid(z) of what the keys between it and the query have left, and the
    query's own value gets the rest."""
    def __init__(self, _o, _given):
        super().__init__()

    def forward(self, x, q, k, v, mask, scale):
        n = x.shape[1]
        seen = torch.ones(n, n, dtype=torch.bool, device=x.device).tril(-1)
        z = scale * (q @ k.transpose(-1, -2))
        left = F.logsigmoid(-z).masked_fill(~seen, 0)
        between = left.flip(-1).cumsum(-1).flip(-1) - left
        weights = (F.logsigmoid(z) + between).masked_fill(~seen, float("-inf")).exp()
        return weights @ v + (1 - weights.sum(-1, keepdim=True)) * v


class Cope(nn.Module):
    """Golovneva et al. 2024: a position counts the gates sigmoid(score) from the key to the query."""
    def __init__(self, o, given):
        super().__init__()
        self.positions = int(given.get("npos", 64))
        self.embedding = nn.Parameter(torch.zeros(o["width"] // o["heads"], self.positions))

    def forward(self, x, q, k, v, mask, scale):
        scores = scale * (q @ k.transpose(-1, -2)) + mask
        at = scores.sigmoid().flip(-1).cumsum(-1).flip(-1).clamp(max=self.positions - 1)
        below, above = at.floor().long(), at.ceil().long()
        by_position = q @ self.embedding
        weight = at - below
        bias = by_position.gather(-1, above) * weight + by_position.gather(-1, below) * (1 - weight)
        return (scores + bias).softmax(-1) @ v


SCHEMES = {"fox": Fox, "stickbreaking": StickBreaking, "cope": Cope}
