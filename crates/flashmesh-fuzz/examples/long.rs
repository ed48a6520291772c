//! All fuzz targets in turns, for as long as one likes; a stopped run goes on where it was.
//!
//! `long FOLDER MINUTES [SEED]` keeps in FOLDER how many executions there were and the inputs that failed, each by the name of its
//! target; `long --repeat TARGET FILE` runs one of them again.

use std::io::Write;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use flashmesh_fuzz::{FUZZERS, Fuzzer};

/// Inputs have up to two to this power of bytes, short ones as often as long ones.
const LENGTH_BITS: u64 = 13;
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014): any input can be made alone.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The bytes of an execution, whatever ran before it.
fn input(seed: u64, execution: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95) ^ execution;
    let length = random(&mut state) % (1 << (random(&mut state) % (LENGTH_BITS + 1)));
    let words = (0..length.div_ceil(8)).map(|_| random(&mut state).to_le_bytes());
    let mut bytes = words.collect::<Vec<_>>().concat();
    bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    bytes
}

fn repeat(target: &str, file: &Path) -> Result<(), String> {
    let fuzzer = FUZZERS.iter().find(|fuzzer| fuzzer.name == target);
    let fuzzer = fuzzer.ok_or_else(|| format!("{target}: is no target"))?;
    let bytes = std::fs::read(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    (fuzzer.run)(&bytes);
    Ok(())
}

/// Gives how many executions failed.
fn fuzz(folder: &Path, minutes: u64, seed: u64) -> Result<u64, String> {
    let unwritten = |error: std::io::Error| format!("{}: cannot be written: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(unwritten)?;
    let state = folder.join(format!("executions-{seed}"));
    let mut executions: u64 = match std::fs::read_to_string(&state) {
        Ok(text) => text.trim().parse().map_err(|_| format!("{}: holds no number", state.display()))?,
        Err(_) => 0,
    };
    let save = |executions: u64| {
        let part = state.with_extension("part");
        std::fs::write(&part, format!("{executions}\n")).and_then(|()| std::fs::rename(&part, &state))
    };
    let (begun, first) = (Instant::now(), executions);
    let (mut saved, mut failures) = (begun, 0);
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        for Fuzzer { name, run } in FUZZERS {
            let bytes = input(seed, executions);
            executions += 1;
            if catch_unwind(|| run(&bytes)).is_err() {
                let file = folder.join(format!("{name}-{seed}-{executions}"));
                std::fs::File::create(&file).and_then(|mut file| file.write_all(&bytes)).map_err(unwritten)?;
                eprintln!("repeat it with: long --repeat {name} {}", file.display());
                failures += 1;
            }
        }
        if saved.elapsed() > SAVE_EVERY {
            save(executions).map_err(unwritten)?;
            saved = Instant::now();
        }
    }
    save(executions).map_err(unwritten)?;
    println!(
        "{executions} executions, {} now in {:.0} s, {failures} failures now",
        executions - first,
        begun.elapsed().as_secs_f64()
    );
    Ok(failures)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--repeat", target, file] => repeat(target, Path::new(file)).map(|()| 0),
        [folder, minutes] | [folder, minutes, _] => match (minutes.parse(), arguments.get(2).unwrap_or(&"1").parse()) {
            (Ok(minutes), Ok(seed)) => fuzz(Path::new(folder), minutes, seed),
            _ => Err(format!("{minutes} minutes: no number, or the seed is none")),
        },
        _ => Err("usage: long FOLDER MINUTES [SEED], or long --repeat TARGET FILE".to_owned()),
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
