"""The run of the text: a master, four workers and three parameter servers train on MNIST."""

from examples.page import Row
from examples.runs import inputs_and_outputs

SOURCE = ("The text: `cloudml-dist-mnist-example` of GoogleCloudPlatform, its first version"
          " (TensorFlow 0.12, 2017), its program and what it printed.")


def run(runs):
    """Trains as the text's service did, in its cluster configuration STANDARD_1."""
    return runs.launch(
        "cloud_ml", "--chief_name=master --worker=4 --ps=3", "--model_fn=convnet",
        *runs.mnist_of_tensorflow_1, "--param=batch_size=100", "--param=key=key",
        "--forward_key=key", "--train_steps=10000", "--save_checkpoints_steps=2000")


ROWS = (
    Row("masters, workers, parameter servers", "1, 4, 3",
        lambda done: ", ".join(str(done.tasks[role]) for role in ("master", "worker", "ps"))),
    Row("trained numbers of the network", "3,274,634", lambda done: done.parameters),
    Row("batch; rate of Adam; dropout", "100; 0.0001; 0.5",
        lambda done: "{batch_size}; {learning_rate}; {dropout}".format(**done.params)),
    Row("steps asked for; steps made, since all trainers finish their last one", "10,000; 10,007",
        lambda done: f"10,000; {done.step:,}"),
    Row("accuracy on the 10,000 test images", "0.9900", lambda done: done.accuracy),
    Row("loss of a test image", "0.0313", lambda done: f"{done.metrics['loss']:.4f}"),
    Row("inputs and outputs of the export", "image, key; key, scores",
        lambda done: inputs_and_outputs(done.result["exports"][0])),
)
