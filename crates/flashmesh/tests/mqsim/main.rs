//! Agreement with MQSim (CMU-SAFARI): its drive as values of the configuration, its own requests, and what it computes for them.
//! Reads `../shared/golden/mqsim`; skipped where that is absent.
#![allow(missing_docs)]

mod drive;
#[path = "../drives/mod.rs"]
mod drives;
mod flows;
mod random;
mod single;
mod xml;

use std::path::{Path, PathBuf};

use flashmesh::config::{Namespace, Priority, ReplayMode, StreamConfig};
use flashmesh::measure::log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};

use flashmesh::workload::source::WorkloadSource;

use drives::Kept;
use flows::{Synthetic, Trace};
use xml::{number, tag};

fn shared(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What is compared, in the order of the columns.
#[derive(Debug)]
struct Figures {
    mean: f64,
    p50: f64,
    p99: f64,
    iops: f64,
}

/// The figures that MQSim has for `case`; `None` where they are not to be had.
fn expected(case: &str) -> Option<(Figures, Vec<String>)> {
    let path = shared("golden/mqsim/expected.csv");
    if !path.exists() {
        eprintln!("skipped: {} is absent", path.display());
        return None;
    }
    let text = read(&path);
    let row = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let row = row.into_iter().find(|row| row[0] == case).expect("the case is listed");
    let column = |at: usize| row[at].parse::<f64>().expect("a number");
    let figures = Figures { mean: column(4), p50: column(5), p99: column(6), iops: column(10) };
    Some((figures, row))
}

fn run(device: &str, workload: &str) -> Vec<RequestRecord> {
    let mut config = drive::drive(device);
    let flows: Vec<&str> = workload.split("<IO_Flow_Parameter_Set_").skip(1).collect();
    let planes = u64::from(config.geometry.channels * config.geometry.chips_per_channel)
        * u64::from(config.geometry.dies_per_chip * config.geometry.planes_per_die);
    let sectors = drive::sectors_per_plane(device, flows.len() as u64) * planes;
    if tag(workload, "Device_Level_Data_Caching_Mode") == "WRITE_READ_CACHE" {
        drive::add_cache(&mut config, device);
    }
    let mut sources: Vec<Box<dyn WorkloadSource>> = Vec::new();
    // The last flow issues its first requests first.
    for (at, tags) in flows.iter().enumerate().rev() {
        let name = format!("flow-{at}");
        if tags.contains("<File_Path>") {
            let trace = read(&shared(tag(tags, "File_Path")));
            sources.push(Box::new(Trace::new(&trace, sectors)));
        } else {
            sources.push(Box::new(Synthetic::new(tags, at as u64 * sectors, sectors)));
        }
        let mut stream = StreamConfig {
            name: name.clone(),
            workload: config.workload.clone(),
            replay: config.replay.clone(),
            queue: config.queue.clone(),
        };
        if tags.contains("QUEUE_DEPTH") {
            stream.replay.mode = ReplayMode::Stress;
            stream.replay.outstanding = number(tags, "Average_No_of_Reqs_in_Queue") as u32;
        }
        stream.queue.priority = match tag(tags, "Priority_Class") {
            "URGENT" => Priority::Urgent,
            "HIGH" => Priority::High,
            "MEDIUM" => Priority::Medium,
            _ => Priority::Low,
        };
        if flows.len() == 1 {
            config.replay = stream.replay;
            config.queue = stream.queue;
        } else {
            let pages = sectors / (config.geometry.page_size.as_u64() / 512);
            stream.queue.namespace = Some(name.clone());
            let capacity = Some(config.geometry.page_size * pages);
            config.namespace.insert(0, (name, Namespace { capacity, ..Namespace::default() }));
            config.stream.push(stream);
        }
    }
    let mut simulation = Simulation::with_sources(&config, sources).expect("the drive can be built");
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    simulation.run(&Control::default()).expect("the run ends");
    std::mem::take(&mut *kept.0.lock().expect("no other thread panicked"))
}

fn figures(records: &[RequestRecord]) -> Figures {
    let mut latencies: Vec<u64> = records.iter().map(|record| (record.completed - record.arrival).as_ps()).collect();
    latencies.sort_unstable();
    let count = latencies.len();
    let ns = |ps: u64| ps as f64 / 1000.0;
    let end = records.iter().map(|record| record.completed).max().unwrap_or_default();
    Figures {
        mean: ns(latencies.iter().sum()) / count as f64,
        p50: ns(latencies[count / 2]),
        p99: ns(latencies[count * 99 / 100]),
        iops: count as f64 / end.as_secs_f64(),
    }
}

fn agrees(case: &str) {
    let Some((expected, row)) = expected(case) else { return };
    let [device, workload] = [1, 2].map(|at: usize| read(&shared(&format!("golden/mqsim/{}", row[at]))));
    let records = run(&device, &workload);
    if let Some(directory) = std::env::var_os("LOGS") {
        let line = |record: &RequestRecord| {
            let latency = record.completed - record.arrival;
            format!(
                "{} {} {} {}\n",
                record.id,
                record.offset.as_u64() / 512,
                latency.as_ps() / 1000,
                record.completed.as_ps() / 1000
            )
        };
        let text: String = records.iter().map(line).collect();
        std::fs::write(Path::new(&directory).join(case), text).unwrap();
    }
    assert_eq!(records.len().to_string(), row[3]);
    let ours = figures(&records);
    let deviation = |ours: f64, expected: f64| (ours / expected - 1.0) * 100.0;
    let columns = [
        ("mean", deviation(ours.mean, expected.mean), 1.0),
        ("p50", deviation(ours.p50, expected.p50), 3.0),
        ("p99", deviation(ours.p99, expected.p99), 3.0),
        ("IOPS", deviation(ours.iops, expected.iops), 1.0),
    ];
    let text = columns.map(|(name, deviation, _)| format!("{name} {deviation:+.3} %")).join(", ");
    println!("{case}: {text}");
    for (name, deviation, tolerance) in columns {
        assert!(deviation.abs() <= tolerance, "{case}: {name} is off by {deviation:+.2} %: {text}");
    }
}

macro_rules! cases {
    ($($case:ident,)+) => {
        $(
            #[test]
            fn $case() {
                agrees(stringify!($case));
            }
        )+
    };
}

cases! {
    g_1000_rr4k_q64,
    g_1000_rw4k_q64,
    g_1000_mix_q64,
    g_1000_rw64k_q16,
    g_1000_sw16k_q32,
    g_1000_bw,
    g_1000_rwcache_q64,
    g_1000_trace_tpcc,
    g_1000_unaligned,
    g_333_rr4k_q64,
    g_333_rw4k_q64,
    g_333_trace_tpcc,
    g_prio_2prio,
    g_cmt_rr4k_q64,
}
