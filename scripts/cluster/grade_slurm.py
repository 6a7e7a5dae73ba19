"""Judges on a SLURM cluster: a scheduler here, workers as jobs, until Ctrl-C.

    bash scripts/cluster/certificates.sh ~/grading-tls && export DASK_CONFIG=~/grading-tls
    python scripts/cluster/grade_slurm.py --jobs 8 --interface ib0
    autograder grade 04_lstm_gru --scheduler tls://...     (in a second terminal; the address is printed)

The course must lie on a disk that the jobs see, installed as here. ``--dry-run`` shows the job and submits nothing.
"""

from __future__ import annotations

import argparse
import signal
import sys

from dask_jobqueue import SLURMCluster
from distributed import Security


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=4, help="so many jobs, each a judge on one host (4)")
    parser.add_argument("--threads", type=int, default=2, help="submissions that a judge has under way (2)")
    parser.add_argument("--memory", default="8GB", help="of a job (8GB)")
    parser.add_argument("--partition", help="SLURM's partition")
    parser.add_argument("--walltime", default="02:00:00", help="the most that a job takes (02:00:00)")
    parser.add_argument("--interface", help="the network between the hosts, as `ip link` names it")
    parser.add_argument("--dry-run", action="store_true", help="print the job's script and end")
    options = parser.parse_args()
    security = Security()
    if not security.require_encryption:
        print("grade_slurm: no certificates; run scripts/cluster/certificates.sh, it says how.", file=sys.stderr)
        return 2
    with SLURMCluster(
        job_name="judge",
        cores=options.threads,
        processes=1,
        memory=options.memory,
        queue=options.partition,
        walltime=options.walltime,
        interface=options.interface,
        security=security,
        job_script_prologue=["export OMP_NUM_THREADS=1"],
        worker_extra_args=["--no-dashboard"],
        scheduler_options={"dashboard": False},
    ) as cluster:
        if options.dry_run:
            print(cluster.job_script())
            return 0
        cluster.scale(jobs=options.jobs)
        print(f"autograder grade CHAPTER --scheduler {cluster.scheduler_address}", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main())
