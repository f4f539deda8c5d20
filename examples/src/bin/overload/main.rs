//! An adaptive limit in front of a dependency that slows down and recovers, under more load than it can take, beside
//! a fixed limit that is too low and one that is too high.
//!
//! `cargo run --release -p examples --bin overload [-- --quick]`

mod args;
mod client;
mod load;
mod plan;
mod record;
mod server;
mod stats;
mod summary;
mod table;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::Instant;

use args::Args;
use client::{Dependency, Guard};
use load::Lane;
use plan::Plan;
use record::Record;
use server::Server;
use table::Table;

fn main() -> ExitCode {
    match Args::parse(std::env::args_os().skip(1)) {
        Ok(Args::Help) => {
            print!("{}", args::HELP);
            ExitCode::SUCCESS
        }
        Ok(Args::Run { quick, chart }) => match run(quick, &chart) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("overload: {error}");
                ExitCode::FAILURE
            }
        },
        Err(message) => {
            eprintln!("overload: {message}");
            ExitCode::from(2)
        }
    }
}

#[tokio::main]
async fn run(quick: bool, chart: &Path) -> Result<(), Box<dyn Error>> {
    let plan = if quick { Plan::quick() } else { Plan::full() };
    let mut out = io::stdout();
    let guards = [Guard::Adaptive, Guard::TooLow, Guard::TooHigh];
    let mut servers = Vec::new();
    let mut lanes = Vec::new();
    for guard in guards {
        let server = Server::start(plan.phases[0].capacity).await?;
        lanes.push(Arc::new(Lane::open(guard, Dependency::at(server.address)).await?));
        servers.push(server);
    }
    let start = Instant::now();
    let mut record = Record::of(plan, guards);
    let mut tasks = JoinSet::new();
    for lane in &lanes {
        tasks.spawn(load::run(lane.clone(), plan, start));
    }
    tasks.spawn(async move {
        for (phase, begin, _) in plan.spans() {
            tokio::time::sleep_until(start + begin).await;
            for server in &servers {
                server.set_capacity(phase.capacity);
            }
        }
        tokio::time::sleep_until(start + plan.total() + plan::TIMEOUT * 4).await;
    });
    let mut clock = tokio::time::interval_at(start + plan::TICK, plan::TICK);
    let mut table = Table::default();
    while record.elapsed() < plan.total() {
        clock.tick().await;
        let at = start.elapsed();
        for (lane, (_, readings)) in lanes.iter().zip(&mut record.lanes) {
            let reading = lane.read(&plan, at, readings.last());
            readings.push(reading);
        }
        table.update(&mut out, &record)?;
    }
    write!(out, "{}", summary::summary(&record))?;
    let _ = chart;
    Ok(())
}
