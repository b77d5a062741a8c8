"""A program of TensorFlow 1 whose flags have names, and other types, of absl's own flags."""

import sys

from absl import logging
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("log_dir", "logs", "Folder of checkpoints.")
flags.DEFINE_boolean("v", False, "Whether to print much.")
flags.DEFINE_string("verbosity", "INFO", "Name of a level.")
flags.DEFINE_list("stderrthreshold", ["a"], "Some names.")
flags.DEFINE_float("alsologtostderr", 0.5, "A share.")
flags.DEFINE_integer("logtostderr", 3, "A number.")
flags.DEFINE_string("logger_levels", "x", "A text.")
flags.DEFINE_string("showprefixforinfo", "y", "A text.")
flags.DEFINE_integer("run_with_pdb", 1, "A number.")
flags.DEFINE_string("profile_file", "z", "A text.")
flags.DEFINE_string("pdb", "p", "A text.")
flags.DEFINE_integer("test_tmpdir", 4, "A number.")
# Two flags of the program's launcher have these names.
flags.DEFINE_integer("train_steps", 5, "Steps.")
flags.DEFINE_string("model_dir", "m", "A folder.")
FLAGS = flags.FLAGS


def main(argv):
    print("OWN", FLAGS.log_dir, FLAGS.v, FLAGS.verbosity, FLAGS.stderrthreshold,
          FLAGS.alsologtostderr, FLAGS.logtostderr, FLAGS.logger_levels, FLAGS.showprefixforinfo,
          FLAGS.run_with_pdb, FLAGS.profile_file, FLAGS.pdb, FLAGS.test_tmpdir, FLAGS.train_steps,
          FLAGS.model_dir, argv[1:], flush=True)
    logging.set_verbosity(logging.INFO)
    logging.info("absl logs at %d", logging.get_verbosity())
    logging.get_absl_handler()
    tf.logging.info("TensorFlow logs")
    print("VERBOSITY", FLAGS.verbosity, flush=True)
    if "twice" in argv:
        flags.DEFINE_string("log_dir", "other", "A second flag of this name.")


if __name__ == "__main__":
    tf.app.run(argv=sys.argv)
