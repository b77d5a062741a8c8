"""Jobs with random faults, restarted as by a scheduler, and checks of their ends.

    __main__.py    the command line, the lines of wrong jobs, the table
    schedules.py   the shape of a job and its two faults, drawn from a number alone
    moments.py     when a fault is due, seen in model_dir, the marks of the model, or a log
    job.py         runs one job, applies the faults, restarts tasks
    promises.py    checks of a job's processes
    model_dir.py   checks of a job's files
    model.py       the plug-in that trains
    cases.py       named jobs whose clock, memory or outputs fail, and the cases of
    damage.py      disks that fail
    memory.py      lets the kernel kill a process that is out of memory
    skipped.py     the exception of a case that this machine cannot run
"""
