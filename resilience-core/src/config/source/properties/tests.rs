//! Against what `java.util.Properties` makes of the same files, and against anything at all.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| -> u32 {
        match byte {
            b'A'..=b'Z' => u32::from(byte - b'A'),
            b'a'..=b'z' => u32::from(byte - b'a') + 26,
            b'0'..=b'9' => u32::from(byte - b'0') + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("{byte} is no digit"),
        }
    };
    let digits: Vec<u32> = text.trim_end_matches('=').bytes().map(digit).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group
            .iter()
            .enumerate()
            .fold(0, |bits, (at, digit)| bits | digit << (18 - 6 * at));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

fn pairs(value: &Value) -> Vec<Pair> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|put| Pair {
            key: text(&put[0]),
            value: text(&put[1]),
            line: put[2].as_u64().unwrap() as u32,
        })
        .collect()
}

#[test]
fn every_recorded_file_gives_the_pairs_and_lines_of_java() {
    let cases = include_str!("../../../../../tests/vectors/config/properties.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 415);
    let mut wrong = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let bytes = base64(case["input_base64"].as_str().unwrap());
        let parsed = parse(&bytes);
        let recorded = if case["utf8"] == "same" {
            case
        } else {
            &case["utf8"]
        };
        let right = if !case["valid_utf8"].as_bool().unwrap() {
            let offset = std::str::from_utf8(&bytes).unwrap_err().valid_up_to();
            matches!(&parsed, Err(faults) if faults[0].kind == FaultKind::NotUtf8 { offset })
        } else if !case["error"].is_null() {
            let line = case["error"]["line"].as_u64().unwrap() as u32;
            let kind = FaultKind::MalformedEscape;
            parsed.as_ref().err().and_then(|faults| faults.first()) == Some(&Fault { line, kind })
        } else if case["lone_surrogate"] == true || recorded["lone_surrogate"] == true {
            matches!(&parsed, Err(faults)
                if faults.iter().all(|fault| matches!(fault.kind, FaultKind::LoneSurrogate(_))))
        } else if bytes.starts_with("\u{feff}".as_bytes()) {
            // Ours alone: the mark is no part of the first key, which then may be none at all.
            let mut recorded = pairs(&recorded["puts"]);
            recorded[0].key.remove(0);
            if recorded[0].key.is_empty() || recorded[0].key.starts_with('#') {
                recorded.remove(0);
            }
            parsed == Ok(recorded)
        } else {
            parsed.as_ref() == Ok(&pairs(&recorded["puts"]))
        };
        if !right {
            let input = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
            wrong.push(format!(
                "{id}: {input:?} gave {parsed:?}, recorded {:?}",
                recorded["puts"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), wrong);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_key() {
    let pair = |key: &str, line| Pair {
        key: key.into(),
        value: "1".into(),
        line,
    };
    assert_eq!(parse("\u{feff}a=1".as_bytes()), Ok(vec![pair("a", 1)]));
    assert_eq!(parse("\u{feff}#c\na=1".as_bytes()), Ok(vec![pair("a", 2)]));
    assert_eq!(parse("\u{feff}".as_bytes()), Ok(vec![]));
}

#[test]
fn all_faults_are_told_each_on_the_line_it_stands_on() {
    let fault = |line, kind| Fault { line, kind };
    assert_eq!(
        parse(b"a=\\u12\nb=1\nc=2,\\\n  \\ud83d,\\\n  \\uzz"),
        Err(vec![
            fault(1, FaultKind::MalformedEscape),
            fault(4, FaultKind::LoneSurrogate(0xd83d)),
            fault(5, FaultKind::MalformedEscape),
        ])
    );
    let offset = 4;
    assert_eq!(
        parse(b"a\r\nb\xff"),
        Err(vec![fault(2, FaultKind::NotUtf8 { offset })])
    );
}

#[test]
fn two_escapes_of_a_surrogate_pair_are_one_character() {
    let value = |text: &str| parse(text.as_bytes()).map(|pairs| pairs[0].value.clone());
    assert_eq!(value("a=\\ud83d\\ude00"), Ok("😀".into()));
    assert_eq!(value("a=\\ud83d\\\n \\ude00"), Ok("😀".into()));
    assert!(value("a=\\ude00\\ud83d").is_err());
    assert!(value("a=\\ud83dx\\ude00").is_err());
}

#[test]
fn hostile_files_are_read_in_one_pass() {
    let dots = ".".repeat(200_000);
    let parsed = parse(dots.as_bytes()).unwrap();
    assert_eq!((parsed.len(), &parsed[0].key), (1, &dots));
    assert_eq!(parse(&vec![0; 100_000]).unwrap().len(), 1);
    assert_eq!(
        parse("\\\n".repeat(200_000).as_bytes()).unwrap()[0].line,
        200_000
    );
    assert_eq!(
        parse("a\\\n".repeat(200_000).as_bytes()).unwrap()[0]
            .key
            .len(),
        200_000
    );
    assert_eq!(
        parse("\\u".repeat(200_000).as_bytes()).unwrap_err().len(),
        200_000
    );
    assert_eq!(
        parse("\\".repeat(200_000).as_bytes()).unwrap()[0].key.len(),
        100_000
    );
}

/// Writes a text so that it is read back as it is.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\x0c' => out.push_str("\\f"),
            '\t' => out.push_str("\\t"),
            '\\' | ' ' | '=' | ':' | '#' | '!' | '\u{feff}' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn anything_of_what_has_a_meaning_is_read_or_refused(text in "[\\\\u=: \t\x0c\r\n#!aAdD08\u{feff}é😀]{0,60}") {
        match parse(text.as_bytes()) {
            Ok(pairs) => {
                let last = 1 + text.matches(['\n', '\r']).count() as u32;
                prop_assert!(pairs.iter().all(|pair| (1..=last).contains(&pair.line)));
                prop_assert!(pairs.windows(2).all(|pair| pair[0].line < pair[1].line));
            }
            Err(faults) => prop_assert!(!faults.is_empty()),
        }
    }

    #[test]
    fn what_is_escaped_comes_back(written in prop::collection::vec((any::<String>(), any::<String>()), 0..5)) {
        let lines: Vec<String> = written
            .iter()
            .map(|(key, value)| format!("{}={}", escaped(key), escaped(value)))
            .collect();
        let file = lines.join("\n");
        let read = parse(file.as_bytes()).unwrap();
        let read: Vec<_> = read.into_iter().map(|pair| (pair.key, pair.value)).collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn escapes_of_utf_16_units_come_back(text: String) {
        let file: String = std::iter::once("a=".to_owned())
            .chain(text.encode_utf16().map(|unit| format!("\\u{unit:04X}")))
            .collect();
        prop_assert_eq!(&parse(file.as_bytes()).unwrap()[0].value, &text);
    }
}
