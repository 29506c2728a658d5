"""One batch spread over several processes, and still the loss and gradients of one process.

Every process gathers the vectors of all and computes the same loss L over the whole batch. On its way back, a vector's
gradient is summed over the processes: world x dL/dvector. The mean over processes that DistributedDataParallel takes of
the parameters' gradients divides by world again, which leaves exactly dL/dparameter. Parameters behind the gathering (a
temperature, a head) have dL/dparameter on every process, and their mean is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, distributed


def gather(tensor: Tensor) -> Tensor:
    """(n, ...) on each process -> (world x n, ...), in the order of ranks; the tensor itself where there is no group.

    n must be the same on all processes.
    """
    if not (distributed.is_available() and distributed.is_initialized()):
        return tensor
    apply: Callable[[Tensor], Tensor] = _Gather.apply
    return apply(tensor)


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        ctx.n = len(tensor)
        tensor = tensor.contiguous()
        parts = [torch.empty_like(tensor) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, tensor)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        summed = gradient.clone(memory_format=torch.contiguous_format)  # all_reduce writes into what it is given
        distributed.all_reduce(summed)
        return summed.narrow(0, distributed.get_rank() * ctx.n, ctx.n)
