//! The main example, run as a user without a terminal runs it.

use std::process::Command;

/// The number that stands `column`th behind a row's name in the last table.
fn cell(table: &str, row: &str, column: usize) -> f64 {
    let line = table
        .lines()
        .find(|line| line.trim_start().starts_with(row))
        .expect("the summary has the row");
    let cells: Vec<_> = line.trim_start()[row.len()..].split_whitespace().collect();
    cells[column].parse().expect("a number")
}

#[test]
fn a_quick_run_finds_the_capacity_and_draws_it() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (chart, scrape) = (folder.join("overload.svg"), folder.join("overload.prom"));
    let run = Command::new(env!("CARGO_BIN_EXE_overload"))
        .args(["--quick", "--chart"])
        .arg(&chart)
        .arg("--scrape")
        .arg(&scrape)
        .output()
        .expect("the example starts");
    let text = String::from_utf8(run.stdout).expect("the output is text");
    assert!(
        run.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );

    let all = text
        .split("\nAll of it\n")
        .nth(1)
        .expect("the output ends with a summary");
    let [adaptive, too_low, too_high] =
        ["adaptive", "fixed at 8", "fixed at 200"].map(|row| cell(all, row, 1));
    assert!(adaptive > 0.0, "{all}");
    // Of a machine too busy to make the load the program says so itself, and then the figures mean nothing.
    if !text.contains("too busy to make them all") {
        assert!(adaptive > too_low && adaptive > too_high, "{all}");
    }

    let drawn = std::fs::read_to_string(&chart).expect("the chart is written");
    assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
    for label in ["Calls at once", "Latency", "Answers per second"] {
        assert!(drawn.contains(label), "the chart has no {label}");
    }
    tells_what_happened(&std::fs::read_to_string(&scrape).expect("the scrape is written"));
}

/// Looks at what Prometheus would have got.
fn tells_what_happened(scrape: &str) {
    let value = |series: &str| -> u64 {
        let line = scrape.lines().find_map(|line| line.strip_prefix(series));
        let line = line.unwrap_or_else(|| panic!("no {series} in\n{scrape}"));
        line.trim().parse().expect("a whole number")
    };
    let calls = |what, id| {
        value(&format!(
            "resilience_calls_{what}{{kind=\"adaptive_limit\",id=\"{id}\"}}"
        ))
    };
    for id in ["orders", "fixed-8", "fixed-200"] {
        let ended: u64 = ["succeeded", "dropped", "ignored", "cancelled"]
            .map(|how| calls(how, id))
            .iter()
            .sum();
        let running = value(&format!(
            "resilience_adaptive_limit_in_flight{{id=\"{id}\"}}"
        ));
        assert!(ended > 0, "{id}");
        assert_eq!(calls("admitted", id), ended + running, "{id}\n{scrape}");
    }
    assert!(calls("rejected", "fixed-8") > 0);
    let limit = |id| value(&format!("resilience_adaptive_limit_limit{{id=\"{id}\"}}"));
    assert_eq!((limit("fixed-8"), limit("fixed-200")), (8, 200));
    let moves = "resilience_adaptive_limit_limit_changes{id=\"orders\",direction=\"up\"";
    assert!(scrape.contains(moves), "{scrape}");
    let windows = value("resilience_adaptive_limit_window_latency_count{id=\"orders\"}");
    assert!(windows > 0);
}

#[test]
fn an_argument_that_is_not_known_is_refused_before_anything_runs() {
    let run = Command::new(env!("CARGO_BIN_EXE_overload"))
        .arg("--quik")
        .output()
        .expect("the example starts");
    assert_eq!(run.status.code(), Some(2));
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(told.contains("--quik"), "{told}");
}
