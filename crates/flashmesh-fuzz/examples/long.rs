//! Runs all fuzz targets alternately for a given time, and resumes where an earlier run ended.
//!
//! `long FOLDER MINUTES [SEED] [THREADS]` keeps in FOLDER the number of executions of each target and the failed inputs, shrunk, in files named after
//! their targets. `long --repeat TARGET FILE` runs a target again with the failed input in FILE. Targets get equal time, not equal numbers of
//! executions. By default there is one thread for each processor.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flashmesh_fuzz::{FUZZERS, Fuzzer};

/// Distribution of input lengths: with (n, m), one in 2^n inputs has fewer than 2^m bytes. The first match applies.
const LENGTHS: [(u32, u32); 4] = [(9, 13), (5, 9), (2, 7), (0, 6)];
const TURN: Duration = Duration::from_millis(100);
const CHUNK: u64 = 64;
/// Time from which an execution counts as a failure.
const SLOW: Duration = Duration::from_secs(10);
/// Failures after which a target is no longer run.
const FAILURES_MAX: usize = 20;
const SHRINK_TRIES: usize = 2000;

/// Returns the next number of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Fills `bytes` with an input that depends only on `seed`, `target` and `execution`. Most inputs are short, because a few lines suffice for most
/// faults.
fn input(seed: u64, target: u64, execution: u64, bytes: &mut Vec<u8>) {
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95) ^ target;
    state = random(&mut state) ^ execution;
    let (choice, length) = (random(&mut state), random(&mut state));
    let bits = LENGTHS.iter().find(|(one_in, _)| choice % (1 << one_in) == 0).map_or(0, |(_, bits)| *bits);
    let length = usize::try_from(length % (1 << bits)).unwrap_or(0);
    bytes.clear();
    while bytes.len() < length {
        bytes.extend(random(&mut state).to_le_bytes());
    }
    bytes.truncate(length);
}

fn fails(fuzzer: &Fuzzer, bytes: &[u8]) -> bool {
    let begun = Instant::now();
    catch_unwind(|| (fuzzer.run)(bytes)).is_err() || begun.elapsed() > SLOW
}

/// Removes or zeroes as many bytes as possible while the target still fails, in at most [`SHRINK_TRIES`] tries.
fn shrunk(fuzzer: &Fuzzer, mut bytes: Vec<u8>) -> Vec<u8> {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (mut tries, mut step) = (0, bytes.len().div_ceil(2));
    while step > 0 && tries < SHRINK_TRIES {
        let mut at = 0;
        while at < bytes.len() && tries < SHRINK_TRIES {
            let end = bytes.len().min(at + step);
            let without = [&bytes[..at], &bytes[end..]].concat();
            let mut zeroed = bytes.clone();
            zeroed[at..end].fill(0);
            tries += 2;
            if fails(fuzzer, &without) {
                bytes = without;
            } else {
                if zeroed != bytes && fails(fuzzer, &zeroed) {
                    bytes = zeroed;
                }
                at = end;
            }
        }
        step /= 2;
    }
    std::panic::set_hook(told);
    bytes
}

fn repeat(target: &str, file: &Path) -> Result<(), String> {
    let fuzzer = FUZZERS.iter().find(|fuzzer| fuzzer.name == target);
    let fuzzer = fuzzer.ok_or_else(|| format!("{target}: is no target"))?;
    let bytes = std::fs::read(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    (fuzzer.run)(&bytes);
    Ok(())
}

/// Number of executions of each target so far, saved in a file.
struct State {
    file: PathBuf,
    counts: BTreeMap<String, u64>,
}

impl State {
    fn open(folder: &Path, seed: u64) -> Result<State, String> {
        std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
        let file = folder.join(format!("executions-{seed}.txt"));
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: cannot be read: {error}", file.display())),
        };
        let counts = text.lines().map(|line| {
            let (name, count) = line.split_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        });
        let counts = counts.collect::<Option<_>>().ok_or_else(|| format!("{}: holds no counts", file.display()))?;
        Ok(State { file, counts })
    }

    fn save(&self) -> Result<(), String> {
        let part = self.file.with_extension("part");
        let lines: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
        std::fs::write(&part, lines.concat())
            .and_then(|()| std::fs::rename(&part, &self.file))
            .map_err(|error| unwritten(&self.file, &error))
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be written: {error}", path.display())
}

/// Runs a target for [`TURN`], from execution `first` on. Returns the number of the next execution, and the numbers of the failed executions.
fn turn(fuzzer: &Fuzzer, target: u64, seed: u64, first: u64, threads: usize) -> (u64, Vec<u64>) {
    let (next, failed, begun) = (AtomicU64::new(first), Mutex::new(Vec::new()), Instant::now());
    let work = || {
        let mut bytes = Vec::new();
        while begun.elapsed() < TURN {
            let chunk = next.fetch_add(CHUNK, Ordering::Relaxed);
            for execution in chunk..chunk + CHUNK {
                input(seed, target, execution, &mut bytes);
                if fails(fuzzer, &bytes) {
                    failed.lock().expect("no other thread panicked").push(execution);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    (next.into_inner(), failed.into_inner().expect("no other thread panicked"))
}

fn fuzz(folder: &Path, minutes: u64, seed: u64, threads: usize) -> Result<usize, String> {
    let mut state = State::open(folder, seed)?;
    let begun = Instant::now();
    let mut failures = vec![0; FUZZERS.len()];
    let mut done = vec![(0, Duration::ZERO); FUZZERS.len()];
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        for (number, fuzzer) in FUZZERS.iter().enumerate() {
            if failures[number] >= FAILURES_MAX {
                continue;
            }
            let count = state.counts.entry(fuzzer.name.to_owned()).or_default();
            let turn_begun = Instant::now();
            // The number of a target is derived from its name, so that adding a target does not change the inputs of the other targets.
            let target = fuzzer.name.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
            let (next, failed) = turn(fuzzer, target, seed, *count, threads);
            done[number].0 += next - *count;
            done[number].1 += turn_begun.elapsed();
            *count = next;
            for execution in failed {
                let mut bytes = Vec::new();
                input(seed, target, execution, &mut bytes);
                let file = folder.join(format!("{}-{seed}-{execution}", fuzzer.name));
                std::fs::write(&file, shrunk(fuzzer, bytes)).map_err(|error| unwritten(&file, &error))?;
                eprintln!("repeat it with: long --repeat {} {}", fuzzer.name, file.display());
                failures[number] += 1;
            }
        }
        state.save()?;
    }
    for (fuzzer, (now, took)) in FUZZERS.iter().zip(&done) {
        let rate = *now as f64 / took.as_secs_f64().max(1e-9);
        println!(
            "{:24} {:>12} executions, {now:>11} now, {rate:>9.0} a second",
            fuzzer.name,
            state.counts.get(fuzzer.name).copied().unwrap_or_default()
        );
    }
    let (now, failures) = (done.iter().map(|(now, _)| now).sum::<u64>(), failures.iter().sum());
    println!(
        "{} executions, {now} now in {:.0} s, {failures} failures now",
        state.counts.values().sum::<u64>(),
        begun.elapsed().as_secs_f64()
    );
    Ok(failures)
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text}: is no number"))
}

fn run(arguments: &[&str]) -> Result<usize, String> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match arguments {
        ["--repeat", target, file] => repeat(target, Path::new(file)).map(|()| 0),
        [folder, minutes, more @ ..] if more.len() <= 2 => {
            let seed = more.first().map_or(Ok(1), |seed| number(seed))?;
            let threads = more.get(1).map_or(Ok(processors), |threads| number(threads))?;
            fuzz(Path::new(folder), number(minutes)?, seed, threads)
        }
        _ => Err("usage: long FOLDER MINUTES [SEED] [THREADS], or long --repeat TARGET FILE".to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
