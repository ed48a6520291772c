//! Parameters of the plugin, `key=value` on the command line of nbdkit. `flashmesh serve` validates the user's values
//! beforehand.

use std::path::PathBuf;
use std::time::Duration;

/// Relation of simulated time to wall time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeScale {
    /// Simulated time advances as fast as possible, independent of the wall clock.
    Virtual,
    /// Wall seconds for one simulated second.
    Real(f64),
}

/// Parameters of the plugin.
#[derive(Debug)]
pub struct Settings {
    /// Configuration file of the drive.
    pub config: Option<PathBuf>,
    /// Size in bytes that clients see; `None` for the capacity of the drive.
    pub size: Option<u64>,
    /// File with the data; `None` for memory.
    pub data: Option<PathBuf>,
    pub time_scale: TimeScale,
    /// Transport time of a request between client and drive, both ways.
    pub ahead: Duration,
    /// File in which requests are logged, as a fio iolog; `None` for no log.
    pub log: Option<PathBuf>,
    /// Pipe to which live figures and the report are written, each as a line of JSON; `None` for no output.
    pub live: Option<PathBuf>,
    /// Folder for the saved states of full drives; `None` to save no states. `states_limit` bounds its size in bytes.
    pub states: Option<PathBuf>,
    pub states_limit: u64,
    /// Control pipe: when all writers have closed it, the drive is closed and the process exits. `None` to run until nbdkit ends.
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

    /// Sets one parameter.
    ///
    /// # Errors
    /// If the key is unknown or the value invalid.
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
