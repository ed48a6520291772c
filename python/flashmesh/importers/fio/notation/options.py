"""Options of fio by treatment: translated, without effect, replaced by other behaviour, or refused."""

from __future__ import annotations

from dataclasses import dataclass


def names(text: str) -> frozenset[str]:
    """Returns the set of the words in a text."""
    return frozenset(text.split())


ALIASES = {
    "blocksize": "bs",
    "readwrite": "rw",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "blockalign": "ba",
    "io_limit": "io_size",
    "timeout": "runtime",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "fill_fs": "fill_device",
    "allrandrepeat": "randrepeat",
    "iomem": "mem",
    "mem_align": "iomem_align",
    "wait_for_previous": "stonewall",
    "log_max_value": "log_window_value",
    "disable_bw": "disable_bw_measurement",
    "steadystate": "ss",
    "steadystate_duration": "ss_dur",
    "steadystate_ramp_time": "ss_ramp",
    "steadystate_check_interval": "ss_interval",
    "hugepage-size": "hugepage_size",
    "dataplacement": "data_placement",
    "fdp_pli_select": "plid_select",
}
"""Alternative names of options."""

TAKEN = names(
    """
    rw rwmixread rwmixwrite rw_sequencer bs bssplit bsrange bs_is_seq_rand ba size filesize offset offset_increment
    offset_align io_size number_ios loops filename directory filename_format nrfiles file_service_type iodepth ioengine
    numjobs thinktime thinktime_blocks rate_iops rate rate_process norandommap randrepeat randseed random_distribution
    percentage_random runtime time_based startdelay stonewall wait_for ramp_time fsync fdatasync sync end_fsync
    fsync_on_close zonemode zonesize zonerange zoneskip read_iolog replay_no_stall replay_time_scale replay_scale
    replay_align kb_base name rate_ignore_thinktime bs_unaligned thinktime_iotime
    """
)
"""Options that are translated, since they change the simulation."""

ENGINES_ASYNC = names(
    "libaio io_uring io_uring_cmd posixaio windowsaio solarisaio xnvme libblkio sg spdk null cpp_null"
)
"""I/O engines that keep `iodepth` requests in flight."""
ENGINE_NAMES = {"aio": "libaio", "linuxaio": "libaio"}
"""Other names of I/O engines."""
ENGINES_SYNC = names("sync psync vsync pvsync pvsync2 mmap splice libcufile libhipfile")
"""I/O engines that wait for each request before the next."""
ENGINES_REASONS = {
    "the network, not to a block device": """
        net netsplice rdma rados rbd http libhdfs gfapi gfapi_async nbd nfs libiscsi dfs ime_psync ime_psyncv ime_aio
        """,
    "memory, not to a block device": """
        libpmem dev-dax pmemblk page_fault
        librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server
        """,
    "flash without a controller, not to a block device": "mtd",
    "zones of a host-managed device, which are not modelled": "libzbc",
    "the processor, not to a block device": "cpuio exec",
    "the files of a file system, not to a block device": """
        e4defrag falloc ftruncate filecreate filedelete filestat fileoperations dircreate dirdelete dirstat
        """,
}
ENGINES_REFUSED = {name: reason for reason, text in ENGINES_REASONS.items() for name in names(text)}
"""I/O engines whose requests do not reach an SSD, each with the place that their requests go to."""

SKEWS = {"zipf": "1.1", "pareto": "0.2", "normal": "0", "gauss": "0"}
"""Skewed distributions of addresses and of files, with fio's default of their parameter."""

REASONS = {
    "a file is a range of the drive": """
        openfiles create_serialize create_fsync create_on_open fallocate unlink unlink_each_loop allow_mounted_write
        allow_file_create unique_filename replay_redirect read_iolog_chunked filetype opendir
        """,
    "there is no page cache: every request goes to the drive": """
        direct buffered atomic fadvise_hint invalidate sync_file_range write_hint
        """,
    "it is about the host, which is not simulated": """
        thread threads cpus_allowed
        cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice mem iomem_align lockmem
        hipri hipri_percentage
        registerfiles fixedbufs sqthread_poll sqthread_poll_cpu nonvectored uncached userspace_reap
        hugepage_size ioscheduler uid gid thinktime_spin cpuload cpumode clocksource cgroup
        cgroup_nodelete cgroup_weight gpu_dev_id gpu_dev_ids cuda_io rocm_io mmap_hugepages force_async
        cmd_type libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries xnvme_async xnvme_sync
        xnvme_admin xnvme_dev_nsid xnvme_iovec xnvme_mem xnvme_be hugetlb profile comm priohint thinkcycles
        libaio_vectored try_pread_pwrite nowait userspace_libaio_reap io_uring_registered thp
        """,
    "each job has its own figures, also in --fio-json: results hold no distributions to merge for a group": """
        group_reporting new_group
        """,
    "it is about what fio measures and prints": """
        stats description per_job_logs unified_rw_reporting write_bw_log write_lat_log
        write_iops_log write_hist_log write_iolog log_avg_msec log_hist_msec log_hist_coarseness log_offset log_prio
        log_issue_time log_entries log_window_value log_compression log_compression_cpus log_store_compressed
        log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id job_start_clock_id
        bwavgtime iopsavgtime lat_percentiles clat_percentiles
        slat_percentiles percentile_list significant_figures disable_lat disable_clat disable_slat
        disable_bw_measurement gtod_reduce gtod_cpu disk_util unit_base block_error_percentiles error_dump grace_time
        std_redirect
        """,
    "no data is simulated": """
        refill_buffers scramble_buffers zero_buffers buffer_pattern dedupe_percentage dedupe_mode dedupe_global
        dedupe_working_set_percentage buffer_compress_percentage buffer_compress_chunk verify_pattern verify_interval
        verify_dump verify_fatal verify_async verify_async_cpus verify_backlog verify_backlog_batch verify_offset
        verifysort verifysort_nr verify_state_save verify_state_load verify_write_sequence verify_header_seed
        experimental_verify verify_policy verify_pattern_interval
        """,
    "requests of a simulated drive do not fail": """
        continue_on_error ignore_error exitall_on_error max_latency lockfile recover_zbd_write_error
        """,
    "the drive knows no priority of a request": """
        prio prioclass cmdprio_percentage cmdprio_class cmdprio cmdprio_hint cmdprio_bssplit
        """,
    "[ftl] determines where the drive places data": """
        fdp fdp_pli plids plid_select data_placement dp_scheme stream_id
        """,
    "requests carry no protection information": "pi_act pi_chk apptag apptag_mask md_per_io_size",
    "no engine of fio acts on it": "write_barrier percentage_sequential",
    "fio uses it only with binary logs of blktrace": "replay_skip",
    "the map of a random job always fits into memory": "softrandommap",
    "flashmesh draws its own random numbers, from the same distribution": """
        random_generator spr_op spr_num_regions spr_cs sprandom
        """,
    "zones are not modelled": """
        zonecapacity max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold zone_reset_frequency
        read_beyond_wp write_zone_remainder skip_bad
        """,
}
MEANINGLESS = {name: reason for reason, text in REASONS.items() for name in names(text)}
"""Options without effect on a simulated drive, with the reason."""

INSTEAD = {
    "each request is issued as soon as fewer than iodepth are in flight": """
        iodepth_batch iodepth_low io_submit_mode serialize_overlap
        """,
    "each completion is reaped by itself": "iodepth_batch_complete_min iodepth_batch_complete_max",
    "the queue depth stays iodepth; fio looks for the greatest that meets the latency": """
        latency_target latency_window latency_percentile latency_run
        """,
    "the job runs to its own end; fio ends it when it is steady": "ss ss_dur ss_ramp ss_interval ss_limit",
    "each job ends by itself": "exitall exit_what",
    "no command runs beside the simulation": "exec_prerun exec_postrun",
    "jobs do not wait for one another": "flow flow_id flow_sleep flow_watermark",
    "nothing ends a job for being slow": "rate_min rate_iops_min rate_cycle",
    "the results begin with the first request; ramp_time leaves out the first ones": "ramp_size",
    "[precondition] determines what the drive holds at the start": "overwrite pre_read",
    "the flush behind the last write is not issued; end_fsync=1 issues one": "end_syncfs",
    "reads and writes are drawn one by one": "rwmixcycle",
    "one range for each deallocation": "num_range",
    "every write and every read is a plain one": "readfua writefua",
}
DIFFERENT = {name: text for text, options in INSTEAD.items() for name in names(options)}
"""Options that are replaced by other behaviour, with that behaviour; results may differ from fio's."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason why an option is refused, and the values with which it is accepted."""

    reason: str
    """Behaviour of the simulation, which contradicts the option."""
    neutral: frozenset[str]
    """Accepted values: those that request the behaviour in `reason`."""


def refused(reason: str, **options: str) -> dict[str, Refusal]:
    """Returns refusals of options for one reason.

    The value of each argument lists the accepted values of the option.
    """
    return {name: Refusal(reason, names(neutral)) for name, neutral in options.items()}


REFUSED = (
    refused("files are laid out without any request", create_only="0")
    | refused("a file ends where its size says", fill_device="0", file_append="0")
    | refused("no written data is read again and checked", verify="0 none null", do_verify="0 1", verify_only="0")
    | refused("only rw=trim deallocates blocks", trim_percentage="0", trim_verify_zero="0", trim_backlog="0")
    | refused("only rw=trim deallocates blocks", trim_backlog_batch="0")
    | refused(
        "a job thinks after a number of requests, see thinktime_blocks",
        thinktime_blocks_type="complete issue",
    )
    | refused("a log is replayed as it is", merge_blktrace_file="", merge_blktrace_scalars="", merge_blktrace_iters="")
    | refused("a sequence of blocks is not modelled", random_sequence_stride="0")
    | refused("a write writes its data", sg_write_mode="write", write_mode="write")
)
"""Options that are refused unless they have an accepted value, since their effect on results is not modelled."""
