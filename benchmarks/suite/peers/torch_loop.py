"""Runs a PyTorch loop over tensors in memory, the fastest plain loop on a CPU."""

from __future__ import annotations

from typing import Iterator

import torch

from benchmarks.suite.peers import work


def network(case: str) -> torch.nn.Module:
    """Returns the network of a case."""
    nn = torch.nn
    if case == "cnn":
        layers = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                               nn.Linear(13 * 13 * 32, 64), nn.ReLU(), nn.Linear(64, 10))
    else:
        layers = nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.Sigmoid(),
                               nn.Linear(100, 10))
    for name, parameter in layers.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        else:
            (nn.init.xavier_uniform_ if case == "cnn" else nn.init.normal_)(parameter)
    return layers


def optimizer(case: str, model: torch.nn.Module) -> torch.optim.Optimizer:
    """Returns the optimizer of a case."""
    if case == "cnn":
        return torch.optim.SGD(model.parameters(), 0.01)
    return torch.optim.Adam(model.parameters(), 0.001)


def batches(todo: work.Work) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields float32 images [batch, 1, 28, 28] and int64 labels, shuffled, without end."""
    images, labels = map(torch.from_numpy, todo.arrays())
    images = images.permute(0, 3, 1, 2)
    while True:
        order = torch.randperm(len(labels))
        for picked in order.split(todo.batch_size)[:len(labels) // todo.batch_size]:
            yield images[picked].float() / 255.0, labels[picked]


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    model = network(todo.case)
    update = optimizer(todo.case, model)
    timer = work.Timer(todo)
    examples = batches(todo)
    while not timer.is_done:
        image, label = next(examples)
        loss = torch.nn.functional.cross_entropy(model(image), label)
        update.zero_grad(set_to_none=True)
        loss.backward()
        update.step()
        timer.step(loss)
    timer.report(sum(p.numel() for p in model.parameters()), loss.dtype, torch.get_num_threads())


if __name__ == "__main__":
    main()
