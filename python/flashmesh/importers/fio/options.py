"""Every option of fio that is known here: taken, without effect on a simulated drive, or refused."""

from __future__ import annotations

from dataclasses import dataclass


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


ALIASES = {
    "blocksize": "bs",
    "readwrite": "rw",
    "bsrange": "blocksize_range",
    "ba": "blockalign",
    "io_limit": "io_size",
}
"""Other names of options."""

TAKEN = names(
    """
    rw rwmixread rwmixwrite bs bssplit blocksize_range blockalign size offset offset_increment io_size number_ios loops
    iodepth ioengine numjobs thinktime rate_iops rate rate_process random_distribution runtime time_based randseed
    read_iolog replay_no_stall replay_time_scale kb_base name
    """
)
"""Options that change what is simulated."""

ENGINES_ASYNC = names("libaio io_uring io_uring_cmd posixaio windowsaio solarisaio xnvme libblkio sg spdk")
"""They keep `iodepth` requests in flight."""
ENGINES_SYNC = names("sync psync vsync pvsync pvsync2 mmap splice")
"""They wait for each request before the next."""

REASONS = {
    "a job addresses the drive itself": """
        filename directory filename_format openfiles create_serialize create_fsync create_on_open fallocate unlink
        unlink_each_loop allow_mounted_write replay_redirect read_iolog_chunked
        """,
    "there is no page cache: every request goes to the drive": "direct atomic fadvise_hint invalidate",
    "it is about the host, which is not simulated": """
        thread cpus_allowed cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice mem iomem lockmem hipri
        registerfiles fixedbufs sqthread_poll sqthread_poll_cpu nonvectored uncached userspace_reap hugepage_size
        iomem_align mem_align ioscheduler uid gid thinktime_spin cpuload clocksource exec_postrun
        """,
    "it is about what fio measures and prints": """
        group_reporting new_group stats description per_job_logs unified_rw_reporting write_bw_log write_lat_log
        write_iops_log write_hist_log write_iolog log_avg_msec log_hist_msec log_offset log_max_value log_compression
        bwavgtime iopsavgtime lat_percentiles clat_percentiles slat_percentiles percentile_list significant_figures
        disable_lat disable_clat disable_slat disable_bw_measurement gtod_reduce gtod_cpu disk_util unit_base
        """,
    "no data is simulated": """
        refill_buffers scramble_buffers zero_buffers buffer_pattern dedupe_percentage buffer_compress_percentage
        buffer_compress_chunk
        """,
    "addresses are drawn anew for each request, blocks again and again": """
        norandommap softrandommap randrepeat allrandrepeat
        """,
}
MEANINGLESS = {name: reason for reason, text in REASONS.items() for name in names(text)}
"""Options that change nothing on a simulated drive, with the reason."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an option is refused."""

    reason: str
    """What happens instead of what it asks for."""
    neutral: frozenset[str]
    """Values with which it asks for just that, and is taken."""


def refused(reason: str, **options: str) -> dict[str, Refusal]:
    """Options that are refused for one reason, with the words for their neutral values."""
    return {name: Refusal(reason, names(neutral)) for name, neutral in options.items()}


REFUSED = (
    refused(
        "a job is one range of the drive",
        nrfiles="1",
        file_service_type="roundrobin",
        filesize="",
        opendir="",
        lockfile="none",
    )
    | refused("give the size in bytes", size_percent="", fill_device="0")
    | refused(
        "what the drive holds at the start is for [precondition] to say", overwrite="0", pre_read="0", create_only="0"
    )
    | refused("there is no page cache: every request goes to the drive", buffered="0")
    | refused("no command is run, whatever it would do to the drive", exec_prerun="")
    | refused("errors are counted, and change nothing else", continue_on_error="none 0")
    | refused("each job ends by itself", exitall="0", exit_what="", exitall_on_error="0")
    | refused("every block may be drawn again", random_generator="tausworthe tausworthe64")
    | refused("a job does not flush", fsync="0", fdatasync="0", end_fsync="0", fsync_on_close="0", sync="0 none")
    | refused("a job does not read again what it wrote", verify="0", do_verify="0")
    | refused(
        "all jobs begin together",
        startdelay="0",
        stonewall="0",
        wait_for_previous="0",
        wait_for="",
    )
    | refused("every request is measured", ramp_time="0")
    | refused("a job is all random or all sequential", percentage_random="100")
    | refused("each address is drawn anew", rw_sequencer="")
    | refused("sizes do not depend on the pattern", bs_is_seq_rand="0")
    | refused("sizes are multiples of the smallest", bs_unaligned="0")
    | refused("a thread thinks after every request", thinktime_blocks="1")
    | refused("requests are issued one by one", iodepth_batch="1", iodepth_batch_submit="1")
    | refused(
        "completions are reaped one by one",
        iodepth_batch_complete="1",
        iodepth_batch_complete_min="1",
        iodepth_batch_complete_max="1",
    )
    | refused("a queue is filled up whenever a request completes", iodepth_low="")
    | refused("requests are issued by the job itself", io_submit_mode="inline")
    | refused("nothing ends a run for being slow", rate_min="", rate_iops_min="")
    | refused("the queue depth stays what it is", latency_target="0", latency_run="0")
    | refused("streams do not wait for one another", flow="0")
    | refused("addresses of a log are taken as they are", replay_align="", replay_scale="1")
    | refused("a log is replayed as it is", merge_blktrace_file="")
    | refused(
        "zones are not modelled",
        zonemode="none",
        zonesize="",
        zonerange="",
        zoneskip="0",
        job_max_open_zones="",
        max_open_zones="",
    )
    | refused("all requests of a job have one priority", cmdprio_percentage="0")
    | refused("the drive does not know the priorities of the host's scheduler", prio="", prioclass="")
    | refused("no data is simulated", dedupe_mode="")
)
"""Options that would change the result and are not modelled, but for their neutral values."""
