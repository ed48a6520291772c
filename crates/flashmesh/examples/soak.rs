//! Runs random drives with all oracles enabled for a given time, and can resume a stopped run.
//!
//! `soak FOLDER MINUTES [SEED]` keeps in FOLDER the numbers of drives and requests of each kind, and the configuration of every failed drive, for
//! `flashmesh run --check`. Seven of eight drives are plain, with the interconnects in turn; one has all features. Of 32 drives 26 are short, four
//! are ten times as long, and two a thousand times (with all features a hundred times).

#[path = "../tests/soak/drives.rs"]
mod drives;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use flashmesh::config::Config;

const SHORT: u64 = 3_000;

/// Returns the number of requests of plain drive `number`, such that every length meets every interconnect.
fn requests(number: u64) -> u64 {
    match (number * 7 + number / 32) % 32 {
        0..=1 => 1_000 * SHORT,
        2..=5 => 10 * SHORT,
        _ => SHORT,
    }
}

/// Returns the kind of drive `number` (interconnect or "everything"), its number of requests, and its configuration.
fn drive(seed: u64, number: u64) -> (&'static str, u64, Config) {
    let requests = requests(number);
    if number.is_multiple_of(8) {
        // With all features, a request takes about ten times as long to simulate.
        let requests = (requests / 10).max(SHORT);
        return ("everything", requests, drives::draw(&drives::busy(requests), seed, number));
    }
    let interconnect = drives::INTERCONNECTS[(number - number / 8) as usize % drives::INTERCONNECTS.len()];
    (interconnect, requests, drives::draw(&drives::plain(interconnect, requests), seed, number))
}

/// Progress of all soak runs in a folder, saved in a file.
struct State {
    file: PathBuf,
    /// Number of drives and of requests of each kind.
    done: BTreeMap<String, (u64, u64)>,
}

impl State {
    fn open(folder: &Path, seed: u64) -> Result<State, String> {
        std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
        let file = folder.join(format!("drives-{seed}.txt"));
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: cannot be read: {error}", file.display())),
        };
        let entry = |line: &str| {
            let mut parts = line.split(' ');
            Some((parts.next()?.to_owned(), (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?)))
        };
        let done = text.lines().map(entry).collect::<Option<_>>();
        let done = done.ok_or_else(|| format!("{}: holds no counts", file.display()))?;
        Ok(State { file, done })
    }

    fn drives(&self) -> u64 {
        self.done.values().map(|(drives, _)| drives).sum()
    }

    fn requests(&self) -> u64 {
        self.done.values().map(|(_, requests)| requests).sum()
    }

    fn add(&mut self, kind: &str, requests: u64) -> Result<(), String> {
        let entry = self.done.entry(kind.to_owned()).or_default();
        *entry = (entry.0 + 1, entry.1 + requests);
        let lines: Vec<String> =
            self.done.iter().map(|(kind, (drives, requests))| format!("{kind} {drives} {requests}\n")).collect();
        let part = self.file.with_extension("part");
        std::fs::write(&part, lines.concat())
            .and_then(|()| std::fs::rename(&part, &self.file))
            .map_err(|error| unwritten(&self.file, &error))
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be written: {error}", path.display())
}

/// Runs drives for `minutes` minutes. Returns the number of failed drives.
fn soak(folder: &Path, minutes: u64, seed: u64) -> Result<u64, String> {
    let mut state = State::open(folder, seed)?;
    let (before, begun) = (state.requests(), Instant::now());
    let mut now: BTreeMap<&str, (u64, Duration)> = BTreeMap::new();
    let mut failures = 0;
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        let number = state.drives();
        let (kind, requests, config) = drive(seed, number);
        let drive_begun = Instant::now();
        if let Err(problem) = drives::run(&config, requests) {
            let file = folder.join(format!("drive-{seed}-{number}.toml"));
            std::fs::write(&file, config.to_toml()).map_err(|error| unwritten(&file, &error))?;
            eprintln!("{problem}\nrepeat it with: flashmesh run --check {}", file.display());
            failures += 1;
        }
        let entry = now.entry(kind).or_default();
        *entry = (entry.0 + requests, entry.1 + drive_begun.elapsed());
        state.add(kind, requests)?;
    }
    for (kind, (drives, requests)) in &state.done {
        let (now, took) = now.get(kind.as_str()).copied().unwrap_or_default();
        let rate = now as f64 / took.as_secs_f64().max(1e-9);
        println!("{kind:12} {drives:>8} drives, {requests:>12} requests, {now:>11} now, {rate:>9.0} a second");
    }
    let (now, seconds) = (state.requests() - before, begun.elapsed().as_secs_f64());
    println!(
        "{} requests on {} drives, {now} now in {seconds:.0} s ({:.0} a second), {failures} failures now",
        state.requests(),
        state.drives(),
        now as f64 / seconds.max(1e-9)
    );
    Ok(failures)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text}: is no number"))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [folder, minutes, more @ ..] if more.len() <= 1 => number(minutes).and_then(|minutes| {
            let seed = more.first().map_or(Ok(1), |seed| number(seed))?;
            soak(Path::new(folder), minutes, seed)
        }),
        _ => Err("usage: soak FOLDER MINUTES [SEED]".to_owned()),
    };
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
