//! What is said about scenario files with mistakes.

use resilience::sim::{Contender, Scenario};

const SOUND: &str = "duration = \"10s\"
dependency = { servers = 5, latency = \"20ms\" }
clients = [{ load = { open = { per_second = 100 } } }]
";

/// The messages about a file, without its name and the code.
fn messages(text: &str) -> Vec<String> {
    let error = Scenario::parse("my.toml", text).unwrap_err();
    assert_eq!(error.code().as_str(), "R4C-SIM-001");
    assert!(error.is_settings());
    let shown = error.to_string();
    let lines = shown.lines().filter(|line| line.contains("my.toml:"));
    let message = |line: &str| {
        let line = line.trim().strip_prefix("my.toml:").unwrap();
        line.strip_suffix(" [R4C-SIM-001]").unwrap().to_owned()
    };
    lines.map(message).collect()
}

#[test]
fn the_template_is_sound() {
    assert_eq!(Scenario::parse("my.toml", SOUND).unwrap().name(), "my");
}

#[test]
fn each_mistake_is_told_with_its_line_key_and_what_is_expected() {
    for (line, expected) in [
        ("sede = 1", "1: unknown key `sede`; did you mean `seed`?"),
        (
            "seed = -1",
            "1: `seed` is -1, expected a whole number from 0 to 9223372036854775807",
        ),
        ("about = 3", "1: `about` is 3, expected a text"),
        (
            "phases = [\"20s\"]",
            "1: `phases[0]` is \"20s\", expected moments that grow and lie within the duration",
        ),
        (
            "reference_duration = \"0s\"",
            "1: `reference_duration` is \"0s\", expected a duration above 0",
        ),
        (
            "limit = { max_limit = 0 }",
            "1: `limit.max_limit` is 0, expected a whole number from 1 to 1000000",
        ),
        (
            "limit = { min_limit = 30, max_limit = 20 }",
            "1: `limit.max_limit`: `max_limit` (20) is below `min_limit` (30)",
        ),
        (
            "limit = { initial_limit = 300 }",
            "1: `limit.initial_limit`: `initial_limit` (300) is above `max_limit` (200)",
        ),
        (
            "limit = { window = \"1h 5m\" }",
            "1: `limit.window` is \"1h 5m\", expected a duration from 1ms to 1h",
        ),
        (
            "limit = { backoff_ratio = 0.3 }",
            "1: `limit.backoff_ratio` is 0.3, expected a decimal number from 0.5 to below 1",
        ),
        (
            "limit = { maxlimit = 3 }",
            "1: unknown key `maxlimit` in `limit`; did you mean `max_limit`?",
        ),
        (
            "limit = { deviations = \"cutOnce, wholeCut\" }",
            "1: `limit.deviations` is \"cutOnce, wholeCut\", expected all, none or a list of the switches that are on; did you mean `wholeCuts`?",
        ),
        (
            "limit = { baseline = \"quantile(0.1)\" }",
            "1: `limit.baseline` is \"quantile(0.1)\", expected minimum or quantile(which, windows): a quantile from 0 to 1 of 1 to 10000 windows; as in quantile(0.1, 10)",
        ),
        (
            "limit = { preset = \"netflx\" }",
            "1: `limit.preset` is \"netflx\", expected one of repaired, netflix; did you mean `netflix`?",
        ),
    ] {
        let messages = messages(&format!("{line}\n{SOUND}"));
        assert_eq!(messages.len(), 1, "{line}: {messages:#?}");
        assert!(messages[0].starts_with(expected), "{line}: {messages:#?}");
    }
}

#[test]
fn mistakes_in_the_dependency_are_told_too() {
    for (wrong, expected) in [
        (
            "latency = 20",
            "`dependency.latency` is 20, expected a duration with its unit: \"1.5s\"",
        ),
        (
            "servers = 0, latency = \"1s\"",
            "`dependency.servers` is 0, expected a number from 1 to 1000000000",
        ),
        (
            "servers = 3",
            "`dependency` has no `latency`: the service time, such as \"40ms\"",
        ),
        (
            "latency = \"1s\", queue = 5",
            "`dependency.queue` is bounded, but `dependency.servers` is not set",
        ),
        (
            "latency = \"1s\", discipline = \"lifo\"",
            "`dependency.discipline` is \"lifo\", expected one of `fifo`, `sharing`",
        ),
        (
            "latency = \"1s\", law = \"normal\"",
            "`dependency.law` is \"normal\", expected one of `constant`, `exponential`",
        ),
        (
            "latency = \"1s\", law = { lognorml = { cv = 1 } }",
            "unknown key `lognorml` in `dependency.law`; did you mean `lognormal`?",
        ),
        (
            "latency = \"1s\", law = { uniform = {} }",
            "`dependency.law.uniform` has no `spread`",
        ),
        (
            "latency = \"1s\", law = { mixture = [] }",
            "`dependency.law.mixture` is an array, expected at least one kind of calls",
        ),
        (
            "latency = \"1s\", law = { mixture = [{ share = 0, factor = 1 }] }",
            "`dependency.law.mixture` is an array, expected a share above 0",
        ),
        (
            "latency = \"1s\", law = { mixture = [{ share = 1, factor = 0, law = \"constant\" }] }",
            "`dependency.law.mixture[0].factor` is 0, expected a number from",
        ),
        (
            "latency = \"1s\", law = {}",
            "`dependency.law` is empty, expected one of `bimodal`, `jitter`",
        ),
        (
            "latency = { steps = [] }",
            "`dependency.latency.steps` is an array, expected pairs",
        ),
        (
            "latency = { steps = [[\"0s\"]] }",
            "`dependency.latency.steps[0]` is an array, expected a pair",
        ),
        (
            "latency = { steps = [[\"1s\", \"1s\"]] }",
            "`dependency.latency.steps[0][0]` is \"1s\", expected moments that begin with \"0s\"",
        ),
        (
            "latency = { cycle = [[\"1ns\", \"1s\"]] }",
            "`dependency.latency.cycle` changes more than a million times",
        ),
        (
            "latency = \"1s\", failures = [{ share = 2, kind = \"drop\" }]",
            "`dependency.failures[0].share` is 2, expected a number from 0 to 1",
        ),
        (
            "latency = \"1s\", failures = [{ share = 1, kind = \"hang\" }]",
            "calls hang, but client `client-1` has no `timeout`",
        ),
        (
            "latency = \"1s\", quota = {}",
            "`dependency.quota` has no `per_second`",
        ),
    ] {
        let text = SOUND.replace("servers = 5, latency = \"20ms\"", wrong);
        let messages = messages(&text);
        assert_eq!(messages.len(), 1, "{wrong}: {messages:#?}");
        assert!(messages[0].contains(expected), "{wrong}: {messages:#?}");
    }
}

#[test]
fn mistakes_in_clients_are_told_too() {
    for (wrong, expected) in [
        ("{ }", "`clients[0]` has no `load`"),
        ("3", "`clients[0]` is 3, expected a table"),
        ("", "`clients` is an array, expected at least one client"),
        (
            "{ load = { open = {}, closed = {} } }",
            "`clients[0].load` is to be one of `closed`, `open`, not two",
        ),
        (
            "{ load = { closed = { users = 0 } } }",
            "`clients[0].load.closed.users` is 0, expected a whole number",
        ),
        (
            "{ timeout = \"0s\", load = { closed = { users = 1 } } }",
            "`clients[0].timeout` is \"0s\", expected a duration above 0",
        ),
        (
            "{ after_timeout = \"stays\", load = { closed = { users = 1 } } }",
            "`clients[0].after_timeout` is \"stays\", expected one of `goes_on`, `leaves`",
        ),
    ] {
        let text = SOUND.replace("{ load = { open = { per_second = 100 } } }", wrong);
        let messages = messages(&text);
        assert_eq!(messages.len(), 1, "{wrong}: {messages:#?}");
        assert!(messages[0].contains(expected), "{wrong}: {messages:#?}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_their_lines() {
    let text = "seed = \"x\"\nsecond = 2\n\n[dependency]\nlatency = 1\n[[clients]]\nload = 5\n";
    let messages = messages(text);
    let lines: Vec<&str> = messages
        .iter()
        .map(|message| message.split(':').next().unwrap())
        .collect();
    // The duration that is missing belongs to the whole file.
    assert_eq!(lines, ["1", "1", "2", "5", "7"], "{messages:#?}");
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    let messages = messages("duration = \"10s\"\nservers = = 3\n");
    assert!(messages[0].starts_with("2: "), "{messages:?}");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let error = Scenario::read("nowhere/my.toml").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read `nowhere/my.toml`: "),
        "{error}"
    );
}

#[test]
fn contenders_are_read_or_told_what_is_wrong() {
    for sound in [
        "aimd",
        "none",
        "fixed:7",
        "vegas:baseline=quantile(0.1, 300);smoothing=0.5",
        "gradient2:window=100ms",
    ] {
        assert!(
            Contender::parse(sound).is_ok(),
            "{sound}: {:?}",
            Contender::parse(sound)
        );
    }
    for (wrong, expected) in [
        ("", "names no limit"),
        (
            "fixed:0",
            "`fixed:0`: a fixed limit is a whole number from 1 to 1000000",
        ),
        (
            "aimd:increase=2",
            "aimd:increase=2:1: unknown key `increase`",
        ),
        (
            "aimd:backoff_ratio=2",
            "`backoff_ratio` is 2, expected a decimal number from 0.5 to below 1",
        ),
        (
            "aimd:latency_threshold=60",
            "`latency_threshold` is 60, expected a duration from 1ns to 1h; a number alone has no unit",
        ),
    ] {
        let error = Contender::parse(wrong).unwrap_err().to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

#[test]
fn an_algorithm_that_there_is_not_is_an_error_of_the_run() {
    let scenario = Scenario::parse("my.toml", SOUND).unwrap();
    let simulation =
        resilience::sim::Simulation::new(&scenario).contender(Contender::algorithm("vega"));
    let error = simulation.run().unwrap_err();
    assert_eq!(error.code().as_str(), "R4C-REG-002");
    assert!(
        error.to_string().contains("did you mean `vegas`?"),
        "{error}"
    );
}

/// A file that was cut, doubled or garbled in any line is told what is wrong with it, or runs: it never panics.
#[test]
fn no_garbled_file_makes_it_panic() {
    let mut sound = 0;
    for name in crate::support::names() {
        let text =
            std::fs::read_to_string(crate::support::folder().join(format!("{name}.toml"))).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let garbled = [
                String::new(),
                format!("{line}\n{line}"),
                line.replace(['1', '2', '3', '5'], "0"),
                line.replace('0', "9999999999"),
                line.replace('"', ""),
                line.replace('{', "["),
                line.replace(" = ", " = -"),
                line.replace("ms", "h"),
            ];
            for other in garbled {
                let mut lines = lines.clone();
                lines[number] = &other;
                match Scenario::parse("garbled.toml", &lines.join("\n")) {
                    Ok(_) => sound += 1,
                    Err(error) => assert!(error.to_string().contains("garbled.toml:"), "{error}"),
                }
            }
        }
    }
    assert!(sound > 100, "{sound}");
}
