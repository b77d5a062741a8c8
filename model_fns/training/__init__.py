"""What model_fns here share, and any other may use: schedules, optimizers, the train op."""
