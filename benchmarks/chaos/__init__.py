"""Jobs with random faults, started again as a scheduler would, and checks of how each ends.

    __main__.py    the command line, the lines of wrong jobs, the table
    schedules.py   the shape of a job and its two faults, drawn from a number alone
    moments.py     when a fault is due, seen in model_dir, the marks of the model, or a log
    job.py         runs one job, applies the faults, starts tasks again
    promises.py    what must hold after a job: its processes
    model_dir.py   what must hold after a job: its files
    model.py       the plug-in that trains
    cases.py       named jobs whose clock, memory or outputs fail, and those of
    damage.py      disks that fail
    memory.py      lets the kernel kill a process for want of memory
    skipped.py     what a case raises that this machine cannot run
"""
