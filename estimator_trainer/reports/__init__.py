"""Reports of a run: the job's history, the page, TensorBoard, and `show`."""
