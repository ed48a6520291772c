//! The parameters of the plugin, `key=value` on the command line of nbdkit.

use std::path::PathBuf;

/// How time passes for the clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeScale {
    /// As fast as possible: only simulated time counts.
    Virtual,
    /// A second of simulated time takes so many seconds.
    Real(f64),
}

#[derive(Debug)]
pub struct Settings {
    /// The configuration of the drive.
    pub config: Option<PathBuf>,
    /// The bytes that clients see; the capacity of the drive where none are given.
    pub size: Option<u64>,
    /// The file with the data; memory where there is none.
    pub data: Option<PathBuf>,
    pub time_scale: TimeScale,
    /// Where the report goes at the end, as JSON.
    pub report: Option<PathBuf>,
    /// Where the requests are recorded, as an iolog of fio.
    pub log: Option<PathBuf>,
    /// Where the figures of each second go, a line of JSON each.
    pub live: Option<PathBuf>,
}

impl Settings {
    pub const fn new() -> Settings {
        let time_scale = TimeScale::Real(1.0);
        Settings { config: None, size: None, data: None, time_scale, report: None, log: None, live: None }
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
            "report" => self.report = path(),
            "log" => self.log = path(),
            "live" => self.live = path(),
            "size" => self.size = Some(nbdkit::parse_size(value).map_err(|error| error.to_string())? as u64),
            "time-scale" => {
                let scale: f64 = value.parse().map_err(|_| format!("time-scale={value} is no number"))?;
                self.time_scale = match scale {
                    0.0 => TimeScale::Virtual,
                    scale if (1e-3..=1e6).contains(&scale) => TimeScale::Real(scale),
                    _ => return Err(format!("time-scale={value} must be 0, or from 0.001 to 1000000")),
                };
            }
            _ => {
                return Err(format!(
                    "there is no parameter {key}: config, size, data, time-scale, report, log and live are"
                ));
            }
        }
        Ok(())
    }
}
