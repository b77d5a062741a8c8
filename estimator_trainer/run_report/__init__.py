"""A page of a run, or of several beside each other, made of what lies in model_dir alone."""
