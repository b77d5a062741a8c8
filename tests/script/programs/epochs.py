"""A script that trains and evaluates in turns, as many do that were written for one machine."""

import sys

import points
import tensorflow as tf

estimator = tf.compat.v1.estimator.Estimator(points.model_fn, sys.argv[1], params={
    "batch_size": 16, "learning_rate": 0.1})
for _ in range(3):
    estimator.train(points.input_fn_of(640, 0, True), steps=40)
    print("accuracy", estimator.evaluate(points.input_fn_of(160, 1, False))["accuracy"])
if "--predict" in sys.argv:
    print("predicted", len(list(estimator.predict(points.input_fn_of(160, 1, False)))))
sys.exit(3 if "--exit=3" in sys.argv else 0)
