"""What `launch` is made of: the tasks of a job as processes of this machine."""
