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


class Selective(nn.Module):
    """Leviathan et al. 2024: scores lose the sum of the positive scores of head 0 of earlier queries on the key."""
    def __init__(self, o, _given):
        super().__init__()
        n = o["positions"]
        earlier = torch.ones(n, n).tril(-1)
        earlier[:, 0] = 0
        self.register_buffer("votes", earlier)

    def forward(self, x, q, k, v, mask, scale):
        n = x.shape[1]
        first = (scale * (q[:, :1] @ k[:, :1].transpose(-1, -2))).relu() * self.votes[:n, :n]
        lost = first.cumsum(-2) - first
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask - lost, scale=scale)


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


class Inkling(nn.Module):
    """Thinking Machines 2026: each token and head mixes a bias from a bank of curves by distance."""
    def __init__(self, o, given):
        super().__init__()
        self.mixes, reach, n = int(given.get("mixes", 4)), int(given.get("reach", 32)), o["positions"]
        self.r_proj = nn.Linear(o["width"], o["heads"] * self.mixes, bias=False)
        self.bank = nn.Parameter(0.02 * torch.randn(self.mixes, reach))
        distance = torch.arange(n)[:, None] - torch.arange(n)[None, :]
        self.register_buffer("near", (distance >= 0) & (distance < reach))
        self.register_buffer("distance", distance.clamp(0, reach - 1))

    def forward(self, x, q, k, v, mask, scale):
        r = self.r_proj(x).unflatten(-1, (-1, self.mixes)).transpose(1, 2)
        curves = (r @ self.bank).gather(-1, self.distance.expand(*q.shape[:2], -1, -1))
        bias = torch.where(self.near, curves, 0) + mask
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)


class Pope(nn.Module):
    """Gopalakrishnan et al. 2025: the softplus of an entry is a length, its angle is that of the position."""
    def __init__(self, o, given):
        super().__init__()
        D, n = o["width"] // o["heads"], o["positions"]
        self.learned_bias = nn.Parameter(torch.zeros(o["heads"], D))
        angle = torch.arange(n)[:, None] * given.get("base", 1e4) ** (-torch.arange(D) / D)
        self.register_buffer("angle", angle)

    def forward(self, x, q, k, v, mask, scale):
        phase = self.angle + self.learned_bias.clamp(-2 * torch.pi, 0)[:, None]
        q, k = F.softplus(q), F.softplus(k)
        q = torch.cat((q * self.angle.cos(), q * self.angle.sin()), -1)
        k = torch.cat((k * phase.cos(), k * phase.sin()), -1)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)


class Path(nn.Module):
    """Yang et al. 2025: products of reflections between key and query, by the inverse of a triangular matrix."""
    def __init__(self, o, given):
        super().__init__()
        C, rank, taps = o["width"], int(given.get("rank", min(32, o["width"]))), int(given.get("conv", 3))
        self.w_proj = nn.Sequential(nn.Linear(C, rank, bias=False), nn.Linear(rank, C, bias=False))
        self.w_conv1d = nn.Conv1d(C, C, taps, padding=taps - 1, groups=C, bias=False) if taps else None
        self.bt_proj = nn.Linear(C, o["heads"])

    def forward(self, x, q, k, v, mask, scale):
        n, w = x.shape[1], self.w_proj(x)
        if self.w_conv1d is not None:
            w = F.silu(self.w_conv1d(w.transpose(1, 2))[..., :n].transpose(1, 2))
        w = F.normalize(w.unflatten(-1, (q.shape[1], -1)), dim=-1).transpose(1, 2)
        beta = 2 * self.bt_proj(x).sigmoid().transpose(1, 2)[..., None]
        lower = torch.eye(n, device=x.device) + (beta * (w @ w.transpose(-1, -2))).tril(-1)
        between = torch.linalg.solve_triangular(lower, beta * (w @ k.transpose(-1, -2)).tril(-1), upper=False,
                                                unitriangular=True)
        scores = q @ k.transpose(-1, -2) - (q @ w.transpose(-1, -2)).tril() @ between
        return (scale * scores + mask).softmax(-1) @ v


class Wall(nn.Module):
    """Wall attention: each channel fades by a gate of each token. At these lengths exp(-P) does not overflow."""
    def __init__(self, o, given):
        super().__init__()
        self.g_proj = nn.Linear(o["width"], o["width"])
        nn.init.constant_(self.g_proj.bias, given.get("gate_bias", 8.0))

    def forward(self, x, q, k, v, mask, scale):
        kept = F.logsigmoid(self.g_proj(x)).cumsum(1).unflatten(-1, (q.shape[1], -1)).transpose(1, 2)
        return F.scaled_dot_product_attention(q * kept.exp(), k * (-kept).exp(), v, is_causal=True, scale=scale)


class Grape(nn.Module):
    """Zhang et al. 2026, additive: the distance times a slope, which the directions of query and key make."""
    def __init__(self, o, _given):
        super().__init__()
        H, D, n = o["heads"], o["width"] // o["heads"], o["positions"]
        self.omega = nn.Parameter(torch.full((H, 1, 1), 0.5413))
        self.u, self.v = (nn.Parameter(torch.randn(H, D) * D ** -0.5) for _ in range(2))
        self.register_buffer("slope", 2.0 ** (-8.0 * torch.arange(1, H + 1) / H)[:, None, None])
        self.register_buffer("distance", (torch.arange(n)[:, None] - torch.arange(n)).clamp(min=0).float())

    def forward(self, x, q, k, v, mask, scale):
        root = q.shape[-1] ** -0.5
        query = F.softplus((q @ F.normalize(self.v, dim=-1)[..., None]) * root)
        key = F.softplus((k @ F.normalize(self.u, dim=-1)[..., None]) * root).transpose(-1, -2)
        bias = mask - self.distance * (F.softplus(self.omega) * self.slope) * (query + key)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)


class GrapeTurn(nn.Module):
    """Zhang et al. 2026, multiplicative: q and k turn in learned planes with learned frequencies."""
    def __init__(self, o, given):
        super().__init__()
        H, D = o["heads"], o["width"] // o["heads"]
        self.planes = int(given.get("planes", D // 2))
        self.log_factor = nn.Parameter(torch.zeros(H, self.planes))
        self.vectors = nn.Parameter(torch.randn(H, D, 2 * self.planes) * D ** -0.5)
        self.register_buffer("first", given.get("base", 1e4) ** (-torch.arange(self.planes) / self.planes))
        self.register_buffer("at", torch.arange(o["positions"]).float()[:, None])

    def forward(self, x, q, k, v, mask, scale):
        basis, _ = torch.linalg.qr(self.vectors)
        angle = self.at * (self.first * self.log_factor.exp())[:, None]
        less, sine = angle.cos() - 1, angle.sin()

        def turned(y):
            a, b = (y @ basis).chunk(2, -1)
            return y + torch.cat((less * a - sine * b, sine * a + less * b), -1) @ basis.transpose(-1, -2)
        return F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True, scale=scale)


SCHEMES = {"fox": Fox, "inkling": Inkling, "stickbreaking": StickBreaking, "cope": Cope, "selective": Selective,
           "pope": Pope, "path": Path, "wall": Wall, "grape": Grape, "grape_turn": GrapeTurn}
