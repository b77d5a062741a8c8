"""A PyTorch training loop over tensors in memory, the fastest plain one on a CPU."""

from __future__ import annotations

import torch
import work


def network(case: str) -> torch.nn.Module:
    """Returns the network of a case."""
    nn = torch.nn
    if case == "cnn":
        return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(13 * 13 * 32, 64), nn.ReLU(), nn.Linear(64, 10))
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.Sigmoid(), nn.Linear(100, 10))


def optimizer(case: str, model: torch.nn.Module) -> torch.optim.Optimizer:
    """Returns the optimizer of a case."""
    if case == "cnn":
        return torch.optim.SGD(model.parameters(), 0.01)
    return torch.optim.Adam(model.parameters(), 0.001)


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    images = torch.from_numpy(todo.images).permute(0, 3, 1, 2)
    labels = torch.from_numpy(todo.labels)
    model = network(todo.case)
    update = optimizer(todo.case, model)
    timer = work.Timer(todo)
    while not timer.is_done:
        order = torch.randperm(len(labels))
        for start in range(0, len(labels) - todo.batch_size + 1, todo.batch_size):
            picked = order[start:start + todo.batch_size]
            loss = torch.nn.functional.cross_entropy(
                model(images[picked].float() / 255.0), labels[picked])
            update.zero_grad(set_to_none=True)
            loss.backward()
            update.step()
            timer.step()
            if timer.is_done:
                break
    timer.report(sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
