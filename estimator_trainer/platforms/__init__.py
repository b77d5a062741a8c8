"""What `manifest` is made of: a job in the words of each scheduler."""
