//! An adaptive limit in front of a dependency that slows down and recovers, under more load than it can take, beside
//! a fixed limit that is too low and one that is too high.
//!
//! `cargo run --release -p examples --bin overload [-- --quick]`; what else there is: `-- --help`

mod args;
mod chart;
mod client;
mod load;
mod plan;
mod record;
mod scrape;
mod server;
mod stats;
mod summary;
mod svg;
mod table;
mod view;

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use args::{Args, Run};
use client::{Dependency, Guard};
use load::Lane;
use plan::{Plan, TICK};
use record::Record;
use scrape::Scrape;
use server::Server;
use table::Table;
use view::View;

fn main() -> ExitCode {
    let done = match Args::parse(std::env::args_os().skip(1)) {
        Ok(Args::Help) => write!(io::stdout(), "{}", args::HELP).map_err(Into::into),
        Ok(Args::Run(args)) => run(&args),
        Err(message) => {
            eprintln!("overload: {message}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("overload: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[tokio::main]
async fn run(args: &Run) -> Result<(), Box<dyn Error>> {
    let chart = &args.chart;
    // Before the run, not after it: where there is no place for the chart, nobody should wait to hear of it.
    chart::prepare(chart)?;
    let scrape = args.scrape.as_deref().map(Scrape::prepare).transpose()?;
    let plan = if args.quick {
        Plan::quick()
    } else {
        Plan::full()
    };
    let mut out = io::stdout();
    write!(out, "{}", summary::introduction(&plan))?;

    let record = observe(plan, &mut out).await?;

    write!(out, "\n{}", summary::summary(&record))?;
    chart::write(chart, &record)?;
    writeln!(out, "Chart: {}", chart.display())?;
    if let Some(scrape) = scrape {
        scrape.write()?;
        writeln!(out, "Scrape: {}", scrape.path.display())?;
    }
    Ok(())
}

/// Runs the plan against all three limits at once, each with a dependency of its own, and shows it meanwhile.
async fn observe(plan: Plan, out: &mut impl Write) -> Result<Record, Box<dyn Error>> {
    let guards = [Guard::Adaptive, Guard::TooLow, Guard::TooHigh];
    let (mut servers, mut lanes) = (Vec::new(), Vec::new());
    for guard in guards {
        let server = Server::start(plan.phases[0].capacity).await?;
        let dependency = Dependency::at(server.address);
        lanes.push(Arc::new(Lane::open(guard, dependency).await?));
        servers.push(server);
    }
    let mut screen = Screen::open(out)?;
    let mut record = Record::of(plan, guards);
    let start = Instant::now();

    // Dropped with this function, and all that still runs with it.
    let mut running = JoinSet::<Result<(), JoinError>>::new();
    for lane in &lanes {
        running.spawn(load::run(lane.clone(), plan, start));
    }
    running.spawn(async move {
        for (phase, begin, _) in plan.spans() {
            tokio::time::sleep_until(start + begin).await;
            for server in &servers {
                server.set_capacity(phase.capacity);
            }
        }
        // The dependencies go when the last call has ended.
        tokio::time::sleep_until(start + plan.total() + TICK * 10).await;
        Ok(())
    });

    let mut clock = tokio::time::interval_at(start + TICK, TICK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while record.elapsed() < plan.total() {
        tokio::select! {
            _ = clock.tick() => {}
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                break;
            }
        }
        while let Some(ended) = running.try_join_next() {
            ended??;
        }
        let at = start.elapsed();
        for (lane, (_, readings)) in lanes.iter().zip(&mut record.lanes) {
            let reading = lane.read(&plan, at, readings.last());
            readings.push(reading);
        }
        if screen.update(out, &record)? {
            break;
        }
    }
    Ok(record)
}

/// Where the run can be watched.
enum Screen {
    Terminal(View),
    Plain(Table),
}

impl Screen {
    fn open(out: &mut impl Write) -> io::Result<Self> {
        if io::stdout().is_terminal() && io::stdin().is_terminal() {
            View::open().map(Self::Terminal)
        } else {
            Table::open(out).map(Self::Plain)
        }
    }

    /// Shows what is new, and returns whether the user wants to leave.
    fn update(&mut self, out: &mut impl Write, record: &Record) -> io::Result<bool> {
        match self {
            Self::Terminal(view) => view.update(record),
            Self::Plain(table) => table.update(out, record).map(|()| false),
        }
    }
}
