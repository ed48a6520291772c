//! Example of a user-defined quantity in the report: the number of requests that took longer than 200 us, and the time by which the slowest
//! exceeds 200 us.
//!
//! A quantity is declared once, with its type, unit and meaning. Its JSON and its description follow from the declaration. A probe counts
//! the quantity and adds it to the report at the end of the run. A quantity of every report is declared in the same way next to its
//! counter, such as in `GcReport`; `make generate` then writes the Python classes, the reference and the schema.

use std::collections::HashMap;
use std::error::Error;

use flashmesh::config::Config;
use flashmesh::ids::RequestId;
use flashmesh::probe::{Notice, Probe};
use flashmesh::report::{Group, Report, Shape};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;

const LIMIT: Time = Time::from_us(200);

flashmesh::quantities! {
    /// Requests slower than 200 us.
    #[derive(Default)]
    SlowReport as "Slow" {
        /// Requests of the run that completed more than 200 us after their issue.
        requests: u64, in "requests";
        /// Latency of the slowest of these requests, minus 200 us.
        excess_max_ps: Option<u64>, in "ps", null "when there are none";
    }
}

/// Probe that counts slow requests.
#[derive(Default)]
struct Slow {
    issued_at: HashMap<RequestId, Time>,
    report: SlowReport,
}

impl Probe for Slow {
    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        match *notice {
            Notice::RequestIssued(id, _) => {
                self.issued_at.insert(id, now);
            }
            Notice::RequestCompleted(id) => {
                let Some(issued_at) = self.issued_at.remove(&id) else { return };
                let excess = (now - issued_at).saturating_sub(LIMIT).as_ps();
                if excess > 0 {
                    self.report.requests += 1;
                    self.report.excess_max_ps = self.report.excess_max_ps.max(Some(excess));
                }
            }
            _ => {}
        }
    }

    fn conclude(&mut self, _now: Time, report: &mut Report) {
        report.own.add("slow", &self.report);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = Config::default();
    config.replay.outstanding = 1024;
    config.workload.requests = Some(10_000);
    let mut simulation = Simulation::new(&config)?;
    simulation.add_probe(Box::<Slow>::default());
    let report = simulation.run(&Control::default())?;

    // The quantity is in the JSON and agrees with the histogram of latencies, which has the same slowest request.
    let json = report.to_json();
    let slow = &json["own"]["slow"];
    println!("slow: {slow}");
    let latency = report.latency_ps.all.ok_or("requests completed")?;
    assert!(slow["requests"].as_u64().is_some_and(|requests| 0 < requests && requests < report.requests));
    assert_eq!(slow["excess_max_ps"].as_u64(), Some(latency.max - LIMIT.as_ps()));

    // The declaration of `SlowReport` also yields its documentation at run time: name, text, and the shape and unit of each field.
    let spec = SlowReport::spec();
    assert_eq!((spec.class, spec.doc.as_str()), (Some("Slow"), "Requests slower than 200 us."));
    assert_eq!((&spec.quantities[0].shape, spec.quantities[0].unit), (&Shape::Integer, Some("requests")));
    assert_eq!(spec.quantities[1].null, Some("when there are none"));
    Ok(())
}
