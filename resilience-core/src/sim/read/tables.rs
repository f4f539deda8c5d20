//! The tables of a scenario file.

use super::limit;
use super::reader::{Field, Fields, Reader};
use super::schedules::{positive, schedule};
use crate::limit::LimitConfig;
use crate::sim::law::{Kind, Law};
use crate::sim::scenario::{
    Client, Dependency, Discipline, Failure, FailureKind, Load, Quota, Scenario, Slowdown,
};
use crate::sim::schedule::Schedule;

/// A year: nothing lasts longer.
const LONGEST: u64 = 365 * 24 * 3_600_000_000_000;
/// The largest numbers of calls, of users and of calls per second.
const MOST: f64 = 1e9;
const CLIENTS: u64 = 1000;

pub(super) fn scenario(
    reader: &mut Reader<'_>,
    mut document: Fields<'_>,
    name: String,
) -> Option<Scenario> {
    let top = &mut document;
    let about = top
        .take("about")
        .map_or(Some(String::new()), |about| reader.text(&about));
    let seed = top
        .take("seed")
        .map_or(Some(1), |seed| reader.whole(&seed, &(0..=i64::MAX as u64)));
    let lasts = "how long the scenario lasts, such as \"60s\"";
    let duration = reader.required(top, "duration", lasts, |reader, field| {
        let duration = positive(reader, field)?;
        if duration > LONGEST {
            reader.expected(field, "a year at most");
        }
        Some(duration.min(LONGEST))
    });
    // What is wrong with the rest is told even if nobody knows how long it lasts.
    let known = duration.unwrap_or(60_000_000_000);
    let limit = match top.take("limit") {
        Some(field) => reader.table(&field).map(|mut fields| {
            let settings = limit::settings(reader, &mut fields);
            reader.done(fields);
            settings
        }),
        None => Some(LimitConfig::new()),
    };
    let called = "the table of what is called";
    let dependency = reader.required(top, "dependency", called, |reader, field| {
        let fields = reader.table(field)?;
        dependency(reader, fields, known)
    });
    let calling = "the array of who calls, `[[clients]]`";
    let clients = reader.required(top, "clients", calling, |reader, field| {
        clients(reader, field, known)
    });
    let given = top
        .take("phases")
        .map(|field| moments(reader, &field, known));
    let reference = top.take("reference_duration");
    let reference_at = reference.as_ref().map(|field| field.at);
    let reference = reference.map(|field| positive(reader, &field));
    reader.done(document);

    let (dependency, clients) = (dependency?, clients?);
    if let Some(client) = clients.iter().find(|client| client.timeout.is_none())
        && dependency
            .failures
            .iter()
            .any(|failure| failure.kind == FailureKind::Hang)
    {
        let text = format!(
            "calls hang, but client `{}` has no `timeout`: they would for ever",
            client.name
        );
        reader.fault(0, text);
    }
    let phases = match given {
        Some(phases) => phases?,
        None => turns(&dependency, &clients, known),
    };
    let reference = match reference {
        Some(reference) => reference?.min(known),
        None => known,
    };
    if let Some(last) = phases.last()
        && reference <= *last
    {
        let text =
            "`reference_duration` ends before the last phase begins: it would have no reference";
        reader.fault(reference_at.unwrap_or(0), text.to_owned());
    }
    Some(Scenario {
        name,
        about: about?,
        seed: seed?,
        duration: duration?,
        phases,
        reference,
        dependency,
        clients,
        limit: limit?,
    })
}

/// The moments at which something changes for good.
fn turns(dependency: &Dependency, clients: &[Client], duration: u64) -> Vec<u64> {
    let mut turns = vec![0];
    let schedules = [
        dependency.servers.as_ref(),
        Some(&dependency.latency),
        Some(&dependency.speed),
        Some(&dependency.network),
        dependency.quota.as_ref().map(|quota| &quota.per_second),
    ];
    for schedule in schedules.into_iter().flatten() {
        turns.extend(&schedule.turns);
    }
    for failure in &dependency.failures {
        turns.extend([failure.from, failure.until]);
    }
    for client in clients {
        turns.extend([client.join, client.leave]);
        if let Load::Open { per_second, .. } = &client.load {
            turns.extend(&per_second.turns);
        }
    }
    turns.retain(|at| *at < duration);
    turns.sort_unstable();
    turns.dedup();
    turns
}

fn moments(reader: &mut Reader<'_>, field: &Field<'_>, duration: u64) -> Option<Vec<u64>> {
    let mut moments = vec![0];
    for element in reader.array(field)? {
        let at = reader.duration(&element)?;
        if at > 0 && (at <= moments[moments.len() - 1] || at >= duration) {
            reader.expected(&element, "moments that grow and lie within the duration");
            return None;
        }
        if at > 0 {
            moments.push(at);
        }
    }
    Some(moments)
}

/// Reads what may be left out.
fn or<'f, T>(
    fields: &mut Fields<'f>,
    key: &'static str,
    without: T,
    read: impl FnOnce(Field<'f>) -> Option<T>,
) -> Option<T> {
    fields.take(key).map_or(Some(without), read)
}

fn nanos(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<f64> {
    reader.duration(field).map(|nanos| nanos as f64)
}

fn positive_nanos(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<f64> {
    positive(reader, field).map(|nanos| nanos as f64)
}

fn quantity(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<f64> {
    reader.number(field, &(0.0..=MOST))
}

fn servers(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<f64> {
    reader.number(field, &(1.0..=MOST))
}

fn share(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<f64> {
    reader.number(field, &(0.0..=1.0))
}

fn dependency(
    reader: &mut Reader<'_>,
    mut fields: Fields<'_>,
    duration: u64,
) -> Option<Dependency> {
    let from = &mut fields;
    let servers = or(from, "servers", None, |field| {
        schedule(reader, &field, duration, &servers).map(Some)
    });
    let discipline = or(from, "discipline", Discipline::Fifo, |field| {
        let name = reader.choice(&field, &["fifo", "sharing"])?;
        Some(if name == "fifo" {
            Discipline::Fifo
        } else {
            Discipline::Sharing
        })
    });
    let queue = or(from, "queue", None, |field| {
        let most = reader.whole(&field, &(0..=MOST as u64))?;
        Some(Some(most as usize))
    });
    let refusal = or(from, "refusal", 1_000_000, |field| reader.duration(&field));
    let service = "the service time, such as \"40ms\"";
    let latency = reader.required(from, "latency", service, |reader, field| {
        schedule(reader, field, duration, &positive_nanos)
    });
    let law = or(from, "law", Law::Constant, |field| law(reader, &field));
    let speed = or(from, "speed", Schedule::constant(1.0), |field| {
        schedule(reader, &field, duration, &quantity)
    });
    let slowdown = or(from, "slowdown", Slowdown::None, |field| {
        slowdown(reader, &field)
    });
    let network = or(from, "network", Schedule::constant(0.0), |field| {
        schedule(reader, &field, duration, &nanos)
    });
    let network_jitter = or(from, "network_jitter", 0.0, |field| nanos(reader, &field));
    let quota = or(from, "quota", None, |field| {
        let inside = reader.table(&field)?;
        quota(reader, inside, duration).map(Some)
    });
    let failures = or(from, "failures", Vec::new(), |field| {
        let elements = reader.array(&field)?;
        let read: Vec<_> = elements
            .iter()
            .map(|element| {
                let inside = reader.table(element)?;
                failure(reader, inside)
            })
            .collect();
        read.into_iter().collect()
    });
    if let (Some(Some(_)), Some(None)) = (&queue, &servers) {
        let text = "`dependency.queue` is bounded, but `dependency.servers` is not set: nobody would ever wait";
        reader.fault(from.at, text.to_owned());
    }
    reader.done(fields);
    Some(Dependency {
        servers: servers?,
        discipline: discipline?,
        queue: queue?,
        refusal: refusal?,
        latency: latency?,
        law: law?,
        speed: speed?,
        slowdown: slowdown?,
        network: network?,
        network_jitter: network_jitter?,
        quota: quota?,
        failures: failures?,
    })
}

fn law(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Law> {
    if field.value.as_table().is_none() {
        let name = reader.choice(field, &["constant", "exponential"])?;
        return Some(if name == "constant" {
            Law::Constant
        } else {
            Law::Exponential
        });
    }
    let (name, inside) = reader.variant(
        field,
        &["uniform", "lognormal", "jitter", "bimodal", "mixture"],
    )?;
    if name == "mixture" {
        return mixture(reader, &inside).map(Law::Mixture);
    }
    let mut fields = reader.table(&inside)?;
    let from = &mut fields;
    let factor = |reader: &mut Reader<'_>, field: &Field<'_>| reader.number(field, &(0.0..=1e6));
    let spread = |reader: &mut Reader<'_>, field: &Field<'_>| reader.number(field, &(0.0..=0.999));
    let law = match name {
        "uniform" => reader
            .required(from, "spread", "a share of the latency", spread)
            .map(|spread| Law::Uniform { spread }),
        "lognormal" => reader
            .required(
                from,
                "cv",
                "the coefficient of variation",
                |reader, field| reader.number(field, &(0.0..=100.0)),
            )
            .map(|cv| Law::Lognormal { cv }),
        "jitter" => {
            let spread = reader.required(from, "spread", "a share of the latency", spread);
            let outliers = reader.required(from, "outliers", "the share of slow calls", share);
            let factor = reader.required(from, "factor", "how many times slower they are", factor);
            spread
                .zip(outliers)
                .zip(factor)
                .map(|((spread, outliers), factor)| Law::Jitter {
                    spread,
                    outliers,
                    factor,
                })
        }
        _ => {
            let share = reader.required(from, "share", "the share of slow calls", share);
            let factor = reader.required(from, "factor", "how many times slower they are", factor);
            share
                .zip(factor)
                .map(|(share, factor)| Law::Bimodal { share, factor })
        }
    };
    reader.done(fields);
    law
}

/// Reads `[{ share = 0.8, factor = 1, law = "exponential" }, …]`.
fn mixture(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Vec<Kind>> {
    let elements = reader.array(field)?;
    if elements.is_empty() {
        reader.expected(field, "at least one kind of calls");
        return None;
    }
    let kinds: Vec<_> = elements
        .iter()
        .map(|element| kind(reader, element))
        .collect();
    let kinds: Vec<Kind> = kinds.into_iter().collect::<Option<_>>()?;
    if kinds.iter().all(|kind| kind.share == 0.0) {
        reader.expected(field, "a share above 0");
        return None;
    }
    Some(kinds)
}

fn kind(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Kind> {
    let mut fields = reader.table(field)?;
    let from = &mut fields;
    let share = reader.required(from, "share", "the share of these calls", share);
    let slower = "how many times as long they take";
    let factor = reader.required(from, "factor", slower, |reader, field| {
        reader.number(field, &(1e-6..=1e6))
    });
    let law = or(from, "law", Law::Constant, |field| law(reader, &field));
    reader.done(fields);
    Some(Kind {
        share: share?,
        factor: factor?,
        law: law?,
    })
}

fn slowdown(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Slowdown> {
    let (name, inside) = reader.variant(field, &["universal", "beyond"])?;
    let mut fields = reader.table(&inside)?;
    let from = &mut fields;
    let small = |reader: &mut Reader<'_>, field: &Field<'_>| reader.number(field, &(0.0..=1.0));
    let slowdown = if name == "universal" {
        let contention = reader.required(from, "contention", "the share that is serial", small);
        let coherency = reader.required(from, "coherency", "what each pair of calls costs", small);
        contention
            .zip(coherency)
            .map(|(contention, coherency)| Slowdown::Universal {
                contention,
                coherency,
            })
    } else {
        let load = reader.required(from, "load", "the calls up to which nothing slows", servers);
        let factor = reader.required(from, "factor", "how steep it is", |reader, field| {
            reader.number(field, &(0.0..=1e6))
        });
        load.zip(factor)
            .map(|(load, factor)| Slowdown::Beyond { load, factor })
    };
    reader.done(fields);
    slowdown
}

fn quota(reader: &mut Reader<'_>, mut fields: Fields<'_>, duration: u64) -> Option<Quota> {
    let from = &mut fields;
    let per_second = reader.required(
        from,
        "per_second",
        "the calls it allows",
        |reader, field| schedule(reader, field, duration, &quantity),
    );
    let burst = or(from, "burst", 1.0, |field| {
        reader.number(&field, &(1.0..=MOST))
    });
    let refusal = or(from, "refusal", 1_000_000, |field| reader.duration(&field));
    reader.done(fields);
    Some(Quota {
        per_second: per_second?,
        burst: burst?,
        refusal: refusal?,
    })
}

fn failure(reader: &mut Reader<'_>, mut fields: Fields<'_>) -> Option<Failure> {
    let from = &mut fields;
    let begins = or(from, "from", 0, |field| reader.duration(&field));
    let until = or(from, "until", u64::MAX, |field| reader.duration(&field));
    let share = reader.required(from, "share", "the share of the calls that fail", share);
    let after = or(from, "after", None, |field| {
        reader.duration(&field).map(Some)
    });
    let kind = reader.required(
        from,
        "kind",
        "\"drop\", \"error\" or \"hang\"",
        |reader, field| {
            Some(match reader.choice(field, &["drop", "error", "hang"])? {
                "drop" => FailureKind::Drop,
                "error" => FailureKind::Error,
                _ => FailureKind::Hang,
            })
        },
    );
    reader.done(fields);
    Some(Failure {
        from: begins?,
        until: until?,
        share: share?,
        after: after?,
        kind: kind?,
    })
}

fn clients(reader: &mut Reader<'_>, field: &Field<'_>, duration: u64) -> Option<Vec<Client>> {
    let mut clients = Vec::new();
    let mut sound = true;
    let elements = reader.array(field)?;
    if elements.is_empty() {
        reader.expected(field, "at least one client");
        return None;
    }
    for element in elements {
        let read = reader
            .table(&element)
            .and_then(|fields| client(reader, fields, duration, clients.len()));
        let Some((client, count)) = read else {
            sound = false;
            continue;
        };
        for number in 0..count {
            let mut client = client.clone();
            if count > 1 {
                client.name = format!("{}-{}", client.name, number + 1);
            }
            clients.push(client);
        }
    }
    sound.then_some(clients)
}

fn client(
    reader: &mut Reader<'_>,
    mut fields: Fields<'_>,
    duration: u64,
    number: usize,
) -> Option<(Client, u64)> {
    let from = &mut fields;
    let name = or(from, "name", format!("client-{}", number + 1), |field| {
        reader.text(&field)
    });
    let count = or(from, "count", 1, |field| {
        reader.whole(&field, &(1..=CLIENTS))
    });
    let join = or(from, "join", 0, |field| reader.duration(&field));
    let leave = or(from, "leave", u64::MAX, |field| reader.duration(&field));
    let timeout = or(from, "timeout", None, |field| {
        positive(reader, &field).map(Some)
    });
    let goes_on = or(from, "after_timeout", false, |field| {
        let name = reader.choice(&field, &["leaves", "goes_on"])?;
        Some(name == "goes_on")
    });
    let fixed = or(from, "fixed_limit", None, |field| {
        let limit = reader.whole(&field, &(1..=1_000_000))?;
        Some(Some(limit as u32))
    });
    let load = reader.required(
        from,
        "load",
        "`{ open = … }` or `{ closed = … }`",
        |reader, field| load(reader, field, duration),
    );
    reader.done(fields);
    let client = Client {
        name: name?,
        load: load?,
        join: join?,
        leave: leave?,
        timeout: timeout?,
        goes_on: goes_on?,
        fixed: fixed?,
    };
    Some((client, count?))
}

fn load(reader: &mut Reader<'_>, field: &Field<'_>, duration: u64) -> Option<Load> {
    let (name, inside) = reader.variant(field, &["open", "closed"])?;
    let mut fields = reader.table(&inside)?;
    let from = &mut fields;
    let load = if name == "open" {
        let per_second = reader.required(from, "per_second", "the arrivals", |reader, field| {
            schedule(reader, field, duration, &quantity)
        });
        let poisson = or(from, "arrivals", true, |field| {
            let name = reader.choice(&field, &["poisson", "even"])?;
            Some(name == "poisson")
        });
        let burst = or(from, "burst", 1, |field| {
            reader.whole(&field, &(1..=100_000))
        });
        per_second
            .zip(poisson)
            .zip(burst)
            .map(|((per_second, poisson), burst)| Load::Open {
                per_second,
                poisson,
                burst: burst as u32,
            })
    } else {
        let users = reader.required(from, "users", "how many there are", |reader, field| {
            reader.whole(field, &(1..=1_000_000))
        });
        let think = or(from, "think", 0, |field| reader.duration(&field));
        let after_rejection = or(from, "after_rejection", None, |field| {
            positive(reader, &field).map(Some)
        });
        users
            .zip(think)
            .zip(after_rejection)
            .map(|((users, think), after_rejection)| Load::Closed {
                users: users as u32,
                think,
                // Someone who does not think at all would come back in the same moment, for ever.
                after_rejection: after_rejection.unwrap_or(think.max(10_000_000)),
            })
    };
    reader.done(fields);
    load
}
