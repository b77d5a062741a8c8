"""The run of one task: what the functions of its role share, made once in run.py."""

import dataclasses

from absl import logging

from estimator_trainer import redaction
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.input.data_service import Dispatching, Receiving
from estimator_trainer.settings.trainer_config import TrainerConfig


@dataclasses.dataclass(frozen=True)
class TaskRun:
    """The plan of a task, and its part in the job; whatever may take long needs `watchdog.tick`."""

    plan: Plan
    stop: Stop
    watchdog: Watchdog

    @property
    def config(self) -> TrainerConfig:
        """The settings, model_dir resolved."""
        return self.plan.config

    @property
    def task(self) -> TaskConfig:
        """The place of this process in the job."""
        return self.plan.task

    def log_start(self, plugins: LoadedPlugins | None = None) -> None:
        """Logs the plug-ins, the cluster and, where the plug-ins are loaded, the params."""
        plan, config = self.plan, self.config
        for note in (*self.task.notes, *plan.notes):
            logging.info("%s", note)
        cluster = ", ".join(f"{len(hosts)} {role}" for role, hosts in self.task.servers.items())
        program = (f"script={plan.script.name}" if plan.script else
                   " ".join(f"{plugin.kind}={plugin.name}" for plugin in plan.plugins))
        logging.info("%s train_distribute=%s model_dir=%s cluster: %s", program,
                     config.train_distribute, config.model_dir,
                     cluster or "none, all in this process")
        if plan.eval_sets:
            chosen = [f"best_metric={config.best_metric}"]
            if config.early_stopping_metric:
                chosen.append(f"early_stopping_metric={config.early_stopping_metric}")
            logging.info("evaluates on %s too; %s", ", ".join(map(str, plan.eval_sets)),
                         " ".join(chosen))
        if plugins and not plugins.script:
            defaults = {key: value for plugin in plan.plugins
                        for key, value in (plugin.default_params or {}).items()}
            changed = " ".join(f"{key}={redaction.masked(key, value)!r}"
                               for key, value in sorted(plugins.params.items())
                               if key not in defaults or defaults[key] != value)
            logging.info("params: %s", changed or "all at their defaults")


@dataclasses.dataclass(frozen=True)
class ChiefRun(TaskRun):
    """The run of the chief; `state` is the state of the job, which the chief alone writes.

    `service` hands out the training set; None without --data_service.
    """

    state: JobStateWriter
    service: Dispatching | None = None


@dataclasses.dataclass(frozen=True)
class FollowerRun(TaskRun):
    """The run of any other task; `state` is the state of the job as the chief writes it.

    `service` receives a part of the training set; None without --data_service.
    """

    state: JobStateReader
    service: Receiving | None = None
