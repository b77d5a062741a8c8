"""Ranks of Slurm and of MPI get roles and addresses, from the variables that the launchers set."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import rank_source, ranks, task_config

# As Slurm 22.05 set them in the tasks of `srun -N2 -n5`; with this layout by each distribution.
_STEP = {"SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "tnode-[01-02]",
         "SLURM_STEP_NUM_TASKS": "5", "SLURM_STEP_TASKS_PER_NODE": "4,1"}
_PLACES = {"block": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0)),
           "cyclic": ((0, 0), (1, 0), (0, 1), (0, 2), (0, 3)),
           "plane": ((0, 0), (0, 1), (1, 0), (0, 2), (0, 3))}


def _slurm(rank: int, distribution: str = "", **changes: str) -> dict[str, str]:
    node, local = _PLACES[distribution or "block"][rank]
    how = {"SLURM_DISTRIBUTION": distribution} if distribution else {}
    plane = {"SLURM_DIST_PLANESIZE": "2"} if distribution == "plane" else {}
    return {**_STEP, "SLURM_PROCID": str(rank), "SLURM_NODEID": str(node),
            "SLURM_LOCALID": str(local), **how, **plane, **changes}


def _task(variables, num_ps=1, num_evaluators=1, **keywords):
    found = rank_source.ranks(variables, **keywords)
    return task_config.parse(found.tf_config(num_ps, num_evaluators))


@pytest.mark.parametrize("distribution", ["", "block", "cyclic", "plane"])
def test_ranks_agree_on_the_cluster_in_each_distribution(distribution):
    tasks = [_task(_slurm(rank, distribution)) for rank in range(5)]
    assert [task.name for task in tasks] == [
        "chief:0", "worker:0", "worker:1", "ps:0", "evaluator:0"]
    assert all(task.cluster == tasks[0].cluster for task in tasks)
    places = _PLACES[distribution or "block"]
    hosts = [task.address.rpartition(":")[0] for task in tasks[:4]]
    assert hosts == [f"tnode-0{node + 1}" for node, _ in places[:4]]
    assert len({task.address for task in tasks[:4]}) == 4


def test_last_ranks_are_evaluators():
    names = [_task(_slurm(rank), num_evaluators=2).name for rank in range(5)]
    assert names == ["chief:0", "worker:0", "ps:0", "evaluator:0", "evaluator:1"]


def test_addresses_differ_between_jobs_and_steps():
    def ports(**changes):
        return {address.rpartition(":")[2] for address in
                rank_source.ranks(_slurm(0, **changes)).addresses}
    groups = [ports(), ports(SLURM_JOB_ID="6"), ports(SLURM_STEP_ID="1"),
              ports(SLURM_JOB_ID="6", SLURM_STEP_ID="1")]
    assert len(set.union(*groups)) == sum(map(len, groups))
    assert all(12000 <= int(port) < 32768 for port in set.union(*groups))  # Clients' are above.


def test_addresses_use_ports_of_slurm_or_of_the_user():
    reserved = _slurm(0, SLURM_STEP_RESV_PORTS="13000-13002,13010")
    assert [address.rpartition(":")[2] for address in rank_source.ranks(reserved).addresses] == [
        "13000", "13001", "13002", "13010", "13000"]
    found = rank_source.ranks(reserved, first_port=4000)
    assert found.addresses[4] == "tnode-02:4004" and found.addresses[3] == "tnode-01:4003"
    with pytest.raises(errors.ConfigError, match="a node has 4 tasks; expected as many ports"):
        rank_source.ranks(_slurm(0, SLURM_STEP_RESV_PORTS="13000-13002"))


@pytest.mark.parametrize("variables", [
    {}, {"SLURM_JOB_ID": "5", "SLURM_NTASKS": "5", "SLURM_PROCID": "0"},
    {**_STEP, "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"},
    {"PMI_RANK": "0", "PMI_SIZE": "1"},
    # A shell of `salloc` on a node of the job, and a container of one rank.
    {"SLURM_NTASKS": "5", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "PMIX_RANK": "0"},
    {"PMIX_RANK": "0", "PMIX_SIZE": "1"}, {"PMIX_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
    {"PALS_RANKID": "0", "PMI_RANK": "0", "PMI_SIZE": "1"}, {"PMIX_RANK": ""},
    {"FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "1", "FLUX_JOB_NNODES": "1"},
    # A shell of `flux alloc` or `flux proxy`, of LSF and of PBS.
    {"FLUX_JOB_ID": "123"}, {"LSB_JOBID": "5"}, {"PBS_JOBID": "12.host"}])
def test_ranks_are_none_for_a_process_alone(variables):
    assert rank_source.ranks(variables) is None


def test_ranks_warn_of_a_batch_script_without_srun():
    assert "not started by srun" in rank_source.notes({"SLURM_NTASKS": "5", "SLURM_PROCID": "0"})[0]
    assert not rank_source.notes({**_STEP, "SLURM_NTASKS": "5"})
    assert not rank_source.notes({})


def _open_mpi(rank: int, size: int, local_rank: int, local_size: int) -> dict[str, str]:
    return {f"OMPI_COMM_WORLD_{name}": str(value) for name, value in (
        ("RANK", rank), ("SIZE", size), ("LOCAL_RANK", local_rank), ("LOCAL_SIZE", local_size))}


def test_ranks_of_mpi_on_one_machine_need_no_hosts():
    hydra = {"PMI_RANK": "2", "PMI_SIZE": "3", "MPI_LOCALRANKID": "2", "MPI_LOCALNRANKS": "3"}
    for variables in (_open_mpi(2, 3, 2, 3), hydra):
        task = _task(variables, num_evaluators=0)
        assert (task.name, task.address.rpartition(":")[0]) == ("ps:0", "localhost")


def test_ranks_of_mpi_take_hosts_from_the_list():
    task = _task(_open_mpi(2, 3, 0, 1), num_ps=0, num_evaluators=0, rank_hosts=("a:2", "b"))
    assert [each.rpartition(":")[0] for each in (*task.cluster["chief"], *task.cluster["worker"])
            ] == ["a", "a", "b"]


@pytest.mark.parametrize("rank, size, others", [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"OMPI_COMM_WORLD_LOCAL_SIZE": "3"}),
    ("PMI_RANK", "PMI_SIZE", {"MPI_LOCALNRANKS": "3"}),
    ("PMI_RANK", "PMI_SIZE", {"PMI_LOCAL_SIZE": "3", "PALS_RANKID": "1"}),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", {"MV2_COMM_WORLD_LOCAL_SIZE": "3"}),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", {"JSM_NAMESPACE_LOCAL_SIZE": "3"}),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", {"FLUX_JOB_NNODES": "1", "PMI_RANK": "1",
                                         "PMI_SIZE": "3"})])
def test_ranks_of_every_launcher_with_rank_and_size(rank, size, others):
    variables = {rank: "1", size: "3", **others}
    task = _task(variables, num_evaluators=0)
    assert (task.name, task.address.rpartition(":")[0]) == ("worker:0", "localhost")
    elsewhere = {rank: "1", size: "3"}
    assert _task(elsewhere, 0, 0, rank_hosts=("a", "b:2")).address.startswith("b:")
    with pytest.raises(errors.ConfigError, match=f"^rank_hosts is missing .* {size} is 3"):
        rank_source.ranks(elsewhere)


@pytest.mark.parametrize("name", ["PMIX_RANK", "PALS_RANKID", "ALPS_APP_PE", "PMI_RANK",
                                  "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"])
def test_ranks_of_unknown_size_take_the_number_of_hosts(name):
    for rank in ("0", "2"):
        with pytest.raises(errors.ConfigError, match=f"^{name} is {rank} .*does not tell how many"):
            rank_source.ranks({name: rank})
        found = rank_source.ranks({name: rank}, rank_hosts=("a:2", "b"))
        assert (found.rank, len(found.addresses)) == (int(rank), 3)
    with pytest.raises(errors.ConfigError, match="has places for 2 tasks"):
        rank_source.ranks({name: "2"}, rank_hosts=("a:2",))


def test_ranks_of_pmix_under_srun_are_slurms():
    for extra in ({}, {"PMIX_SIZE": "5"}):
        found = rank_source.ranks({**_slurm(4), "PMIX_RANK": "4", **extra})
        assert found.launcher == "Slurm's step 5.0" and found.addresses[4].startswith("tnode-02:")


def test_ranks_of_mpirun_win_over_those_of_its_daemons():
    daemons = {**_slurm(4), **_open_mpi(0, 3, 0, 3)}
    assert len(rank_source.ranks(daemons).addresses) == 3
    same = {**_slurm(4), "PMI_RANK": "4", "PMI_SIZE": "5"}
    assert rank_source.ranks(same).addresses[4].startswith("tnode-02:")


@pytest.mark.parametrize("variables, keywords, expected", [
    (_open_mpi(0, 3, 0, 1), {}, "rank_hosts is missing (no --rank_hosts)"),
    (_open_mpi(1, 3, 0, 1), {"rank_hosts": ("a:2", "b")}, "and it is task 0 there"),
    (_open_mpi(0, 3, 0, 1), {"rank_hosts": ("a:2",)}, "has places for 2 tasks"),
    (_open_mpi(0, 3, 0, 1), {"rank_hosts": ("a:x", "b")}, "rank_hosts has 'a:x'"),
    ({"PMIX_RANK": "2", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, {}, "(no PMIX_SIZE)"),
    ({"PMI_RANK": "x", "PMI_SIZE": "2"}, {}, "PMI_RANK is 'x' (from the environment)"),
    ({"PMI_RANK": "3", "PMI_SIZE": "3"}, {}, "expected a rank below the size"),
    ({"PMI_RANK": "3", "PMI_SIZE": "99999999999"}, {}, "65536 ranks at most"),
    ({"SLURM_PROCID": "3"}, {}, "SLURM_PROCID is 3 (from the environment), and Slurm does not"),
    ({"PALS_RANKID": "1", "PALS_LOCAL_RANKID": "1"}, {"rank_hosts": ("a", "b")}, "task 1 there"),
    (_slurm(0, SLURM_DISTRIBUTION="arbitrary"), {}, "SLURM_DISTRIBUTION is 'arbitrary'"),
    (_slurm(1, SLURM_NODEID="1"), {}, "rank 1 is task 1 of node 1"),
    (_slurm(0, SLURM_STEP_NODELIST="n[1"), {}, "SLURM_STEP_NODELIST is 'n[1'"),
    (_slurm(0, SLURM_STEP_TASKS_PER_NODE="x"), {}, "SLURM_STEP_TASKS_PER_NODE is 'x'"),
    (_slurm(0, SLURM_PROCID=""), {}, "SLURM_PROCID is ''"),
    (_slurm(0), {"first_port": 65534}, "expected 65531 at most"),
])
def test_ranks_without_hosts_are_explained(variables, keywords, expected):
    with pytest.raises(errors.ConfigError) as caught:
        rank_source.ranks(variables, **keywords)
    assert expected in str(caught.value)


def test_ranks_of_ps_and_evaluator_leave_a_chief():
    made = ranks.Ranks(1, ("a:1", "a:2"), "Slurm's step 1.0", "SLURM_STEP_NUM_TASKS")
    assert '"ps": ["a:2"]' in made.tf_config(1, 0)
    with pytest.raises(errors.ConfigError, match="expected a chief beside them, and so 3 tasks"):
        made.tf_config(1, 1)
