"""Trains with PyTorch, in one process or, with several trainers in TF_CONFIG, over gloo.

`--fused` puts the rows of all columns into one EmbeddingBag; else each column has its own, as
people write it. Gradients of rows are sparse. The ids are in memory and hashed before.

Several trainers make a step together, which counts as one of each. Each step gathers all gradients
in two tensors. DistributedDataParallel calls gloo for each sparse gradient alone: a bag for each
column made 44 steps/s where this makes 97, and PyTorch 2.14.1 crashed in one of three runs.
"""

from __future__ import annotations

import os
import sys
from typing import Iterator

import numpy as np
import torch
from torch import distributed, nn

from benchmarks.sparse.peers import work


class _Tables(nn.Module):
    """A table of rows for each column, or one of all."""

    def __init__(self, todo: work.Work, width: int, is_fused: bool):
        super().__init__()
        number, rows = (1, todo.columns) if is_fused else (todo.columns, 1)
        self.bags = nn.ModuleList(
            nn.EmbeddingBag(rows * work.BUCKETS, width, mode="sum", sparse=True)
            for _ in range(number))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Returns float32 [batch, columns, width] for int64 ids [batch, columns]."""
        if len(self.bags) > 1:
            return torch.stack([bag(ids[:, i:i + 1]) for i, bag in enumerate(self.bags)], 1)
        keys = ids + work.BUCKETS * torch.arange(ids.shape[1])
        return self.bags[0](keys.reshape(-1, 1)).reshape(*ids.shape, -1)


class _Model(nn.Module):
    """The wide and the deep part."""

    def __init__(self, todo: work.Work, is_fused: bool):
        super().__init__()
        self.deep = _Tables(todo, todo.dimension, is_fused)
        self.wide = _Tables(todo, 1, is_fused)
        self.wide_bias = nn.Parameter(torch.zeros(1))
        layers: list[nn.Module] = []
        for inputs, units in todo.layer_sizes:
            layers += [nn.Linear(inputs, units), nn.ReLU()]
            nn.init.xavier_uniform_(layers[-2].weight)
            nn.init.zeros_(layers[-2].bias)
        self.layers = nn.Sequential(*layers[:-1])
        for bag in self.deep.bags:
            deviation = todo.row_deviation
            nn.init.trunc_normal_(bag.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
        for bag in self.wide.bags:
            nn.init.zeros_(bag.weight)

    def forward(self, ids: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Returns the logits, float32 [batch]."""
        inputs = torch.cat([numbers, self.deep(ids).flatten(1)], 1)
        return self.layers(inputs)[:, 0] + self.wide(ids).sum((1, 2)) + self.wide_bias


def _batches(todo: work.Work) -> Iterator[list[torch.Tensor]]:
    """Yields int64 ids [batch, columns], float32 numbers and labels, shuffled, without end."""
    with np.load(todo.npz) as data:
        arrays = [torch.from_numpy(data[name]) for name in ("ids", "numbers", "label")]
    while True:
        order = torch.randperm(len(arrays[0]))
        for picked in order.split(todo.batch)[:len(order) // todo.batch]:
            yield [array[picked] for array in arrays]


def _average_gradients(model: nn.Module, trainers: int) -> None:
    """Gives each parameter the mean of all trainers' gradients, whose batches have one size."""
    parameters = list(model.parameters())
    sparse = [each for each in parameters if each.grad.is_sparse]
    dense = [each for each in parameters if not each.grad.is_sparse]
    ids = [each.grad._indices()[0] for each in sparse]
    values = [each.grad._values() for each in sparse] + [each.grad for each in dense]
    ids_of_all = _gathered(torch.cat(ids), trainers).split([len(each) for each in ids], 1)
    values_of_all = _gathered(torch.cat([each.reshape(-1) for each in values]) / trainers,
                              trainers).split([each.numel() for each in values], 1)
    for parameter, keys, rows in zip(sparse, ids_of_all, values_of_all):
        parameter.grad = torch.sparse_coo_tensor(
            keys.reshape(1, -1), rows.reshape(-1, parameter.shape[1]), parameter.shape)
    for parameter, each in zip(dense, values_of_all[len(sparse):]):
        parameter.grad = each.sum(0).reshape(parameter.shape)


def _gathered(tensor: torch.Tensor, trainers: int) -> torch.Tensor:
    """Returns the tensors [n] of all trainers, [trainers, n]."""
    received = torch.empty([trainers, len(tensor)], dtype=tensor.dtype)
    distributed.all_gather(list(received), tensor)
    return received


def main() -> None:
    """Trains."""
    is_fused = "--fused" in sys.argv
    todo = work.from_command_line([each for each in sys.argv[1:] if each != "--fused"])
    task = work.task()
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // task.trainers))
    torch.manual_seed(0)  # All trainers begin with the same values.
    model = _Model(todo, is_fused)
    torch.manual_seed(task.rank)
    if task.trainers > 1:
        distributed.init_process_group(
            "gloo", init_method=f"tcp://{task.cluster['chief'][0]}", rank=task.rank,
            world_size=task.trainers)
    update = torch.optim.Adagrad(
        model.parameters(), work.LEARNING_RATE, eps=work.ADAGRAD_EPSILON,
        initial_accumulator_value=work.INITIAL_ACCUMULATOR)
    for step, (ids, numbers, label) in enumerate(_batches(todo), 1):
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids, numbers), label)
        update.zero_grad(set_to_none=True)
        loss.backward()
        if task.trainers > 1:
            _average_gradients(model, task.trainers)
        update.step()
        if step % work.LINE_STEPS == 0:
            work.print_line(todo, step * task.trainers, loss.detach())
        if step * task.trainers >= todo.steps:
            break


if __name__ == "__main__":
    main()
