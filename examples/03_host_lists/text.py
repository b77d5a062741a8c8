"""The run of the text: two parameter servers and two workers, from lists of hosts."""

import concurrent.futures
import re

from examples.page import Row
from examples.runs import free_addresses

SOURCE = ("The text: TensorFlow's page \"Distributed TensorFlow\" (1.x) with its program"
          " `trainer.py`.")


def run(runs):
    """Starts the four tasks as the text does, each with its own flags; waits for all."""
    hosts = free_addresses(4)
    lists = (f"--ps_hosts={','.join(hosts[:2])}", f"--worker_hosts={','.join(hosts[2:])}")
    tasks = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
    with concurrent.futures.ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(lambda task: runs.program(
            "hosts", *lists, f"--job_name={task[0]}", f"--task_index={task[1]}", "--verbose",
            "--train_steps=1000", "--model_fn=mlp", "--param=learning_rate=0.05",
            "--log_device_placement", log_name=f"{task[0]}{task[1]}"), tasks))


def _placed(done):
    placed = set(re.findall(r"^(\S+)/Assign: .*/job:ps/replica:0/task:(\d)/", done[2].log, re.M))
    return ", ".join(str(sum(task == index for _, task in placed)) for index in "01")


ROWS = (
    Row("variables (two weights, two biases, the step) on each parameter server: in turn; here by"
        " size, so the largest is alone", "3, 2", _placed),
    Row("step at which training ends, asked for at 1,000; each worker finishes its own", ">= 1,000",
        lambda done: f"{done[2].step:,}"),
    Row("how a parameter server ends", "never: it is killed by hand", lambda done:
        f"with the job; exit codes {', '.join(str(task.code) for task in done)}"),
)
