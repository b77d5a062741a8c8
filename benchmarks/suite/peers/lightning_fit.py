"""Runs PyTorch Lightning's Trainer over the tensors in memory of torch_loop."""

from __future__ import annotations

import logging
from typing import Any, Iterator
import warnings

import lightning
import torch

from benchmarks.suite.peers import torch_loop, work


class _Model(lightning.LightningModule):
    """The network of a case, with its training step."""

    def __init__(self, todo: work.Work, timer: work.Timer):
        super().__init__()
        self.network = torch_loop.network(todo.case)
        self._case, self._timer = todo.case, timer

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        image, label = batch
        return torch.nn.functional.cross_entropy(self.network(image), label)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch_loop.optimizer(self._case, self.network)

    def on_train_batch_end(self, outputs: Any, *_: Any) -> None:
        self._timer.step(outputs["loss"])
        self.dtype_of_loss = outputs["loss"].dtype


class _Batches(torch.utils.data.IterableDataset):
    """The shuffled batches of torch_loop, without end."""

    def __init__(self, todo: work.Work):
        self._todo = todo

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        return torch_loop.batches(self._todo)


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    timer = work.Timer(todo)
    model = _Model(todo, timer)
    trainer = lightning.Trainer(
        accelerator="cpu", max_steps=todo.all_steps, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, torch.utils.data.DataLoader(_Batches(todo), batch_size=None))
    timer.report(sum(p.numel() for p in model.parameters()), model.dtype_of_loss,
                 torch.get_num_threads())


if __name__ == "__main__":
    main()
