"""Runs the peer with drawn ponder times, in both stacks, as `ut bench --bench-ponder` draws them: from 1 to --steps,
the probability of n steps proportional to ratio^n. So both programs' positions halt alike.

    drawn_ponder_peer.py PEER MEAN [options of the peer, --act among them]
"""
import runpy
import sys

import torch
from torch import nn

THRESHOLD = 0.99  # the peer's
peer, mean = sys.argv[1], float(sys.argv[2])
steps = int(sys.argv[sys.argv.index("--steps") + 1])


def shares():
    """The probability of 1, 2, ... steps."""
    low, high = 1e-9, 1e9
    for _ in range(200):
        ratio = (low * high) ** 0.5
        weights = torch.tensor([ratio**n for n in range(steps)], dtype=torch.float64)
        found = weights / weights.sum()
        too_long = (found * torch.arange(1, steps + 1)).sum() > mean
        low, high = (low, ratio) if too_long else (ratio, high)
    return found


class DrawnHalting(nn.Linear):
    """In the place of a halting unit. Makes its logits, too, but each position halts at the step drawn for it."""

    calls = 0
    last_step = None  # [batch, length, 1]

    def forward(self, x):
        if self.last_step is None:
            drawn = torch.multinomial(shares(), x.shape[0] * x.shape[1], replacement=True) + 1
            self.last_step = drawn.view(*x.shape[:2], 1).to(x.device)
        step = self.calls % int(self.last_step.max()) + 1  # a pass ends when the last position has halted
        self.calls += 1
        before = torch.logit(THRESHOLD / self.last_step)
        return 0 * super().forward(x) + torch.where(step < self.last_step, before, torch.full_like(before, 20))


linear = nn.Linear
nn.Linear = lambda *sizes: DrawnHalting(*sizes) if sizes[1] == 1 else linear(*sizes)
sys.argv = [peer, *sys.argv[3:]]
runpy.run_path(peer, run_name="__main__")
