"""The runs of the text: two of three gradients, all three, and no waiting."""

from examples.page import Row
from examples.runs import EXAMPLES

SOURCE = ("The text: TensorFlow's page of `SyncReplicasOptimizer`, and Chen et al., \"Revisiting"
          " Distributed Synchronous SGD\" (arXiv:1604.00981), whose jobs of 50 to 200 machines are"
          " here three processes, one of which needs 0.1 s for a batch.")
_SECS = 0.1


def run(runs):
    """Trains with one backup worker, and with none."""

    def trained(name, replicas):
        return runs.launch(
            name, "--worker=2 --ps=1", "--model_fn=mlp", f"--sync_replicas={replicas}",
            f"--input_fn={EXAMPLES}/05_sync_replicas/slow_digits.py", "--param=slow_pipeline=2",
            f"--param=slow_secs={_SECS}", "--param=batch_size=66", "--param=learning_rate=0.1",
            "--log_every_steps=20", "--train_steps=200")

    return trained("backup", 2), trained("all", 3)


def _updates(run):
    return run.speed(since_step=20) / 66


ROWS = (
    Row("updates of a job of 200 steps", "200", lambda done: done[0].step),
    Row("updates a second, where all wait for the slow worker", "<= 10",
        lambda done: f"{_updates(done[1]):.1f}"),
    Row("the same with one backup worker: the slowest gradients are dropped", "> 10: not held up",
        lambda done: f"{_updates(done[0]):.0f}"),
    Row("accuracy after them: with a backup worker, with all",
        "about the same", lambda done: ", ".join(run.accuracy for run in done)),
)
