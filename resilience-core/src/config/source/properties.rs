//! Reads .properties files: as `java.util.Properties` does, but UTF-8 and strict.
//!
//! A line is a key, a separator (`=`, `:` or white space) and a value. A backslash at the end of a line joins the next
//! to it; elsewhere it escapes the character that follows. Lines that start with `#` or `!` are comments.
//!
//! Stricter than Java: what is not UTF-8 and half a surrogate pair are faults, and a byte order mark is not part of the
//! first key.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A key and its value, in the order of the file, and the line that the key starts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) line: u32,
}

/// What is wrong with a file, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) kind: FaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The byte at this offset begins no character.
    NotUtf8 { offset: usize },
    /// `\u` without four hexadecimal digits.
    MalformedEscape,
    /// Half of a surrogate pair: no character.
    LoneSurrogate(u16),
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { offset } => write!(f, "the byte at offset {offset} is not UTF-8"),
            Self::MalformedEscape => f.write_str(
                "`\\u` needs four hexadecimal digits after it; a backslash itself is written `\\\\`",
            ),
            Self::LoneSurrogate(unit) => write!(
                f,
                "`\\u{unit:04x}` is half of a surrogate pair; write the character itself or both halves"
            ),
        }
    }
}

/// Returns the text of a file, without the byte order mark that it may begin with.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        Fault {
            line: line_at(&bytes[..offset]),
            kind: FaultKind::NotUtf8 { offset },
        }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reads a file's pairs, all of them, also of keys that come twice; or else all of its faults.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Pair>, Vec<Fault>> {
    let text = decode(bytes).map_err(|fault| vec![fault])?;
    let mut lines = Lines {
        rest: text.chars().peekable(),
        line: 1,
    };
    let mut pairs = Vec::new();
    let mut faults = Vec::new();
    while let Some(line) = lines.next_logical() {
        let (key, value) = line.split();
        let key = line.unescape(0, key, &mut faults);
        let value = line.unescape(value, line.text.len(), &mut faults);
        pairs.push(Pair {
            key,
            value,
            line: line.first(),
        });
    }
    if faults.is_empty() {
        Ok(pairs)
    } else {
        Err(faults)
    }
}

/// The line that follows what was read; `\r\n` ends one line, not two.
fn line_at(before: &[u8]) -> u32 {
    let ends = before
        .iter()
        .enumerate()
        .filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => before.get(at + 1) != Some(&b'\n'),
            _ => false,
        })
        .count();
    1 + ends as u32
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0c')
}

/// Cuts a file into logical lines.
struct Lines<'a> {
    rest: Peekable<Chars<'a>>,
    line: u32,
}

/// A line with what was joined to it, escapes still in it.
#[derive(Default)]
struct Logical {
    text: String,
    /// From which byte on the text stands on which line of the file.
    parts: Vec<(usize, u32)>,
}

impl Lines<'_> {
    /// Takes the end of a line; `false` if there is none here.
    fn end_of_line(&mut self) -> bool {
        let ended = match self.rest.peek() {
            Some('\n') => {
                self.rest.next();
                true
            }
            Some('\r') => {
                self.rest.next();
                self.rest.next_if_eq(&'\n');
                true
            }
            _ => false,
        };
        self.line += u32::from(ended);
        ended
    }

    fn skip_spaces(&mut self) {
        while self.rest.next_if(|c| is_space(*c)).is_some() {}
    }

    /// The next line that is neither blank nor a comment.
    fn next_logical(&mut self) -> Option<Logical> {
        let mut line = Logical::default();
        loop {
            self.skip_spaces();
            // As long as nothing was taken, also after a backslash that stood alone.
            if line.text.is_empty() {
                line.parts.clear();
                match self.rest.peek()? {
                    '\n' | '\r' => {
                        self.end_of_line();
                        continue;
                    }
                    '#' | '!' => {
                        while self.rest.next_if(|c| !matches!(c, '\n' | '\r')).is_some() {}
                        continue;
                    }
                    _ => {}
                }
            }
            line.parts.push((line.text.len(), self.line));
            // As in Java, a backslash that joins nothing to nothing at the end of a file is an empty pair.
            if !self.take_natural(&mut line.text) || self.rest.peek().is_none() {
                return Some(line);
            }
        }
    }

    /// Takes what is left of a line of the file; returns whether a backslash joins the next one to it.
    fn take_natural(&mut self, text: &mut String) -> bool {
        let mut escaped = false;
        while let Some(c) = self.rest.next_if(|c| !matches!(c, '\n' | '\r')) {
            text.push(c);
            escaped = c == '\\' && !escaped;
        }
        if escaped {
            text.pop();
        }
        self.end_of_line() && escaped
    }
}

impl Logical {
    /// Where the key ends and where the value begins.
    fn split(&self) -> (usize, usize) {
        let mut escaped = false;
        let end = self.text.find(|c: char| {
            let ends = !escaped && (is_space(c) || matches!(c, '=' | ':'));
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.unwrap_or(self.text.len());
        let value = self.text[end..].trim_start_matches(is_space);
        let value = value
            .strip_prefix(['=', ':'])
            .map_or(value, |value| value.trim_start_matches(is_space));
        (end, self.text.len() - value.len())
    }

    fn first(&self) -> u32 {
        self.line_of(0)
    }

    fn line_of(&self, byte: usize) -> u32 {
        let part = self.parts.partition_point(|(start, _)| *start <= byte);
        self.parts[part.saturating_sub(1)].1
    }

    /// Resolves the escapes between two bytes of the text.
    fn unescape(&self, start: usize, end: usize, faults: &mut Vec<Fault>) -> String {
        let text = &self.text[start..end];
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            let from = start + (text.len() - rest.len()) + at;
            let mut fault = |kind| {
                faults.push(Fault {
                    line: self.line_of(from),
                    kind,
                });
            };
            rest = &rest[at + 1..];
            let Some(escaped) = rest.chars().next() else {
                break;
            };
            if escaped != 'u' {
                rest = &rest[escaped.len_utf8()..];
                out.push(match escaped {
                    't' => '\t',
                    'n' => '\n',
                    'r' => '\r',
                    'f' => '\x0c',
                    other => other,
                });
                continue;
            }
            rest = &rest[1..];
            let Some(unit) = hex(rest) else {
                fault(FaultKind::MalformedEscape);
                continue;
            };
            rest = &rest[4..];
            if let Some(c) = char::from_u32(u32::from(unit)) {
                out.push(c);
                continue;
            }
            let low = rest.strip_prefix("\\u").and_then(hex);
            match low.map(|low| char::decode_utf16([unit, low]).next()) {
                Some(Some(Ok(c))) => {
                    out.push(c);
                    rest = &rest[6..];
                }
                _ => fault(FaultKind::LoneSurrogate(unit)),
            }
        }
        out.push_str(rest);
        out
    }
}

/// The number that four hexadecimal digits at the start of the text make.
fn hex(text: &str) -> Option<u16> {
    let digits = text.get(..4)?;
    // `from_str_radix` takes a sign as well.
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests;
