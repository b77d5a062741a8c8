"""What a training step sends between tasks: packs of gradients, variables and rows."""
