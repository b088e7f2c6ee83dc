"""Where numbers lie in memory: nothing that a result depends on, only its speed."""

import torch
from torch import nn


@torch.no_grad()
def column_major(model: nn.Module) -> nn.Module:
    """Store every matrix column by column, in place; return the model.

    Shapes and numbers stay. A decoding step multiplies each matrix with a single
    vector, which PyTorch's products on a CPU read faster this way round; `benchmarks`
    says by how much. Training gains nothing by it.
    """
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.data = parameter.data.t().contiguous().t()
    return model
