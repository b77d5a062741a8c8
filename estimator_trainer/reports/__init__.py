"""What a user sees of a run: its history, its page, TensorBoard, and `show`."""
