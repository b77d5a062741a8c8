"""Small programs of TensorFlow 1, and what TensorFlow 1.15.5 itself answers to them.

    programs/   the programs: a module an area, a function a case
    runner.py   runs them, on the native TensorFlow 1.15 or under --tf1, and writes the answers
    answers/    what native TensorFlow 1.15.5 answered, a file an area
    compare.py  compares two answers
    make.py     makes the answers anew, from an environment that has TensorFlow 1.15.5
"""
