//! The parameters of the plugin, `key=value` on the command line of nbdkit. `flashmesh serve` checks what users give.

use std::path::PathBuf;
use std::time::Duration;

/// How time passes for the clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeScale {
    /// As fast as possible: only simulated time counts.
    Virtual,
    /// A second of simulated time takes so many seconds.
    Real(f64),
}

/// What the plugin is started with.
#[derive(Debug)]
pub struct Settings {
    /// The configuration of the drive.
    pub config: Option<PathBuf>,
    /// The bytes that clients see; the capacity of the drive where none are given.
    pub size: Option<u64>,
    /// The file with the data; memory where there is none.
    pub data: Option<PathBuf>,
    pub time_scale: TimeScale,
    /// How long a request is under way between client and drive.
    pub ahead: Duration,
    /// Where the requests are recorded, as an iolog of fio.
    pub log: Option<PathBuf>,
    /// Where the live figures and the report go, a line of JSON each.
    pub live: Option<PathBuf>,
    /// The folder in which states of full drives are kept, and the bytes that it may hold.
    pub states: Option<PathBuf>,
    pub states_limit: u64,
    /// A pipe: when nobody can write into it any more, the drive is closed and the process ends.
    pub control: Option<PathBuf>,
}

impl Settings {
    pub const fn new() -> Settings {
        Settings {
            config: None,
            size: None,
            data: None,
            time_scale: TimeScale::Real(1.0),
            ahead: Duration::ZERO,
            log: None,
            live: None,
            states: None,
            states_limit: 0,
            control: None,
        }
    }

    /// Takes one parameter.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let path = || Some(PathBuf::from(value));
        match key {
            "config" => self.config = path(),
            "data" => self.data = path(),
            "log" => self.log = path(),
            "live" => self.live = path(),
            "control" => self.control = path(),
            "states" => self.states = path(),
            "states-limit" => self.states_limit = number(key, value)?,
            "size" => self.size = Some(number(key, value)?),
            "ahead-ns" => self.ahead = Duration::from_nanos(number(key, value)?),
            "time-scale" => {
                let scale: f64 = number(key, value)?;
                self.time_scale = match scale {
                    0.0 => TimeScale::Virtual,
                    scale if (1e-3..=1e6).contains(&scale) => TimeScale::Real(scale),
                    _ => return Err(format!("time-scale={value} must be 0, or from 0.001 to 1,000,000")),
                };
            }
            _ => return Err(format!("there is no parameter {key}: see flashmesh serve --help")),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key}={value} is no number"))
}
