"""Every option of fio that is known here: taken, without effect on a simulated drive, or refused."""

from __future__ import annotations


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
        filename directory filename_format nrfiles openfiles file_service_type filesize create_serialize create_fsync
        create_on_open create_only fallocate overwrite unlink unlink_each_loop fadvise_hint pre_read invalidate
        allow_mounted_write lockfile replay_redirect read_iolog_chunked
        """,
    "there is no page cache: every request goes to the drive": "direct buffered atomic",
    "it is about the host, which is not simulated": """
        thread cpus_allowed cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice mem iomem lockmem hipri
        registerfiles fixedbufs sqthread_poll sqthread_poll_cpu nonvectored uncached userspace_reap hugepage_size
        iomem_align mem_align ioscheduler uid gid thinktime_spin cpuload clocksource exec_prerun exec_postrun
        continue_on_error
        """,
    "it is about what fio measures and prints": """
        group_reporting new_group stats description per_job_logs unified_rw_reporting write_bw_log write_lat_log
        write_iops_log write_hist_log write_iolog log_avg_msec log_hist_msec log_offset log_max_value log_compression
        bwavgtime iopsavgtime lat_percentiles clat_percentiles slat_percentiles percentile_list significant_figures
        disable_lat disable_clat disable_slat disable_bw_measurement gtod_reduce gtod_cpu disk_util unit_base exitall
        """,
    "no data is simulated": """
        refill_buffers scramble_buffers zero_buffers buffer_pattern dedupe_percentage buffer_compress_percentage
        buffer_compress_chunk
        """,
    "addresses are drawn anew for each request, blocks again and again": """
        norandommap softrandommap random_generator randrepeat allrandrepeat
        """,
}
MEANINGLESS = {name: reason for reason, text in REASONS.items() for name in names(text)}
"""Options that change nothing on a simulated drive, with the reason."""

UNLESS = {
    "fsync": "0",
    "fdatasync": "0",
    "end_fsync": "0",
    "fsync_on_close": "0",
    "sync": "0",
    "verify": "0",
    "do_verify": "0",
    "ramp_time": "0",
    "startdelay": "0",
    "stonewall": "0",
    "wait_for_previous": "0",
    "percentage_random": "100",
    "thinktime_blocks": "1",
    "iodepth_batch": "1",
    "iodepth_batch_submit": "1",
    "iodepth_batch_complete": "1",
    "bs_unaligned": "0",
    "zonemode": "none",
}
"""Options that are not modelled, but change nothing with this value."""

REFUSED = {
    "iodepth_batch_complete_min": "completions are reaped one by one",
    "iodepth_batch_complete_max": "completions are reaped one by one",
    "iodepth_low": "a queue is filled up whenever a request completes",
    "bs_is_seq_rand": "sizes do not depend on the pattern",
    "rw_sequencer": "each address is drawn anew",
    "rate_min": "nothing ends a run for being slow",
    "rate_iops_min": "nothing ends a run for being slow",
    "latency_target": "the queue depth stays what it is",
    "latency_run": "the queue depth stays what it is",
    "flow": "streams do not wait for one another",
    "wait_for": "all jobs begin together",
    "startdelay": "all jobs begin together",
    "stonewall": "all jobs begin together",
    "wait_for_previous": "all jobs begin together",
    "ramp_time": "every request is measured",
    "replay_align": "addresses of a log are taken as they are",
    "replay_scale": "addresses of a log are taken as they are",
    "merge_blktrace_file": "a log is replayed as it is",
    "zonesize": "zones are not modelled",
    "zonerange": "zones are not modelled",
    "zoneskip": "zones are not modelled",
    "zonemode": "zones are not modelled",
    "fsync": "a job does not flush",
    "fdatasync": "a job does not flush",
    "end_fsync": "a job does not flush",
    "fsync_on_close": "a job does not flush",
    "sync": "a job does not flush",
    "verify": "a job does not read again what it wrote",
    "do_verify": "a job does not read again what it wrote",
    "percentage_random": "a job is all random or all sequential",
    "thinktime_blocks": "a thread thinks after every request",
    "iodepth_batch": "requests are issued one by one",
    "iodepth_batch_submit": "requests are issued one by one",
    "iodepth_batch_complete": "completions are reaped one by one",
    "bs_unaligned": "sizes are multiples of the smallest",
    "cmdprio_percentage": "all requests of a job have one priority",
    "prio": "the drive does not know the priorities of the host's scheduler",
    "prioclass": "the drive does not know the priorities of the host's scheduler",
    "io_submit_mode": "requests are issued by the job itself",
    "job_max_open_zones": "zones are not modelled",
    "max_open_zones": "zones are not modelled",
    "size_percent": "give the size in bytes",
    "fill_device": "give the size in bytes",
    "opendir": "a job addresses the drive itself",
    "dedupe_mode": "no data is simulated",
}
"""Options that would change the result and are not modelled, with what happens instead."""
