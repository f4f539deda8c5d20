//! Reads the files of settings, whatever their format.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use super::{Written, properties};
use crate::config::place::Place;
use crate::config::quote::named;
use crate::error::{Code, Problem, listed};

/// Larger files are refused, in bytes: they hold something else.
const LARGEST: u64 = 1024 * 1024;

/// How a file is written; its name's ending says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Properties,
    #[cfg(any(feature = "toml", feature = "yaml", feature = "json"))]
    Tables(super::tables::Format),
}

/// The endings that tell a format, or else the feature that would bring it.
const ENDINGS: [(&str, Result<Format, &str>); 5] = [
    ("properties", Ok(Format::Properties)),
    #[cfg(feature = "toml")]
    ("toml", Ok(Format::Tables(super::tables::Format::Toml))),
    #[cfg(not(feature = "toml"))]
    ("toml", Err("toml")),
    #[cfg(feature = "yaml")]
    ("yaml", Ok(Format::Tables(super::tables::Format::Yaml))),
    #[cfg(not(feature = "yaml"))]
    ("yaml", Err("yaml")),
    #[cfg(feature = "yaml")]
    ("yml", Ok(Format::Tables(super::tables::Format::Yaml))),
    #[cfg(not(feature = "yaml"))]
    ("yml", Err("yaml")),
    #[cfg(feature = "json")]
    ("json", Ok(Format::Tables(super::tables::Format::Json))),
    #[cfg(not(feature = "json"))]
    ("json", Err("json")),
];

/// What became of a file that was looked for.
#[derive(Debug)]
pub(crate) enum Looked {
    Found {
        written: Vec<Written>,
        /// Whether there is nothing in it, not even a comment.
        blank: bool,
    },
    /// There is none, which may be as it should.
    Vanished,
}

/// Reads a file; all of its faults, or its settings in its order.
pub(crate) fn read(path: &Path) -> Result<Looked, Vec<Problem>> {
    let name = path.display().to_string();
    let unreadable = |why: &dyn std::fmt::Display| {
        vec![Problem::new(
            Code::CONFIG_UNREADABLE,
            format!("file {name} {why}"),
        )]
    };
    let format = format(path).map_err(|why| unreadable(&why))?;
    // Asked first, since opening a pipe waits for whoever writes to it.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(unreadable(&"is not a file")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Looked::Vanished),
        Err(error) => return Err(unreadable(&format_args!("cannot be read: {error}"))),
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Looked::Vanished),
        Err(error) => return Err(unreadable(&format_args!("cannot be read: {error}"))),
        Ok(read) if read as u64 > LARGEST => {
            return Err(unreadable(&format_args!("is larger than {LARGEST} bytes")));
        }
        Ok(_) => {}
    }
    let blank = bytes.trim_ascii().is_empty();
    parse(&name, format, &bytes).map(|written| Looked::Found { written, blank })
}

fn format(path: &Path) -> Result<Format, String> {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let known = ENDINGS
        .iter()
        .find(|(known, _)| ending.as_deref() == Some(known));
    if let Some((ending, format)) = known {
        return format
            .map_err(|feature| format!("cannot be read: .{ending} needs the feature `{feature}`"));
    }
    let known = listed(ENDINGS.iter().map(|(ending, _)| *ending));
    Err(match ending {
        Some(other) => format!(
            "is of the unknown format {}: known are {known}",
            named(&other)
        ),
        None => format!("has no ending that tells its format: known are {known}"),
    })
}

fn parse(name: &str, format: Format, bytes: &[u8]) -> Result<Vec<Written>, Vec<Problem>> {
    let file: Arc<str> = name.into();
    let place = |line| Place::File {
        file: file.clone(),
        line: Some(line),
    };
    let problem = |fault: &properties::Fault| {
        let text = format!("{}; at {}", fault.kind, place(fault.line));
        Problem::new(Code::CONFIG_SYNTAX, text)
    };
    match format {
        Format::Properties => match properties::parse(bytes) {
            Ok(pairs) => Ok(pairs
                .into_iter()
                .map(|pair| Written {
                    key: pair.key,
                    text: pair.value,
                    unfit: None,
                    place: place(pair.line),
                })
                .collect()),
            Err(faults) => Err(faults.iter().map(problem).collect()),
        },
        #[cfg(any(feature = "toml", feature = "yaml", feature = "json"))]
        Format::Tables(format) => {
            let text = properties::decode(bytes).map_err(|fault| vec![problem(&fault)])?;
            super::tables::parse(format, &file, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder of the test's own, removed with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("resilience-{test}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn file(&self, name: &str, content: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, content).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn problems(path: &Path) -> Vec<String> {
        read(path)
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_file_is_read_with_the_places_of_its_keys() {
        let folder = Folder::new("read");
        let path = folder.file("app.PROPERTIES", b"# c\na=1\n");
        let Looked::Found {
            written,
            blank: false,
        } = read(&path).unwrap()
        else {
            panic!("the file is there")
        };
        let place = format!("{}:2", path.display());
        assert_eq!(
            (written[0].key.as_str(), written[0].text.as_str()),
            ("a", "1")
        );
        assert_eq!(written[0].place.to_string(), place);
        assert_eq!(written.len(), 1);
    }

    #[test]
    fn the_ending_tells_the_format_or_the_feature_that_brings_it() {
        let folder = Folder::new("endings");
        let on = [
            ("a.toml", "\u{feff}a = 1", cfg!(feature = "toml")),
            ("a.yaml", "\u{feff}a: 1", cfg!(feature = "yaml")),
            ("a.YML", "a: 1", cfg!(feature = "yaml")),
            ("a.json", "\u{feff}{\"a\": 1}", cfg!(feature = "json")),
        ];
        for (name, content, on) in on {
            match read(&folder.file(name, content.as_bytes())) {
                Ok(Looked::Found { written, .. }) => {
                    assert!(on, "{name}");
                    assert_eq!(
                        (written[0].key.as_str(), written[0].text.as_str()),
                        ("a", "1")
                    );
                    assert!(written[0].place.to_string().ends_with(&format!("{name}:1")));
                }
                Ok(Looked::Vanished) => panic!("{name} is there"),
                Err(problems) => {
                    assert!(!on, "{name}");
                    assert!(
                        problems[0].text.contains(" needs the feature `"),
                        "{problems:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let folder = Folder::new("faults");
        assert!(matches!(
            read(&folder.0.join("none.properties")),
            Ok(Looked::Vanished)
        ));
        std::fs::create_dir(folder.0.join("folder.properties")).unwrap();
        let ends = |path: PathBuf, end: &str| {
            let told = problems(&path);
            assert!(told[0].ends_with(end), "{told:?}");
        };
        ends(
            folder.0.join("folder.properties"),
            "folder.properties is not a file [R4C-CFG-001]",
        );
        ends(
            folder.file("a.ini", b""),
            "a.ini is of the unknown format `ini`: known are `json`, `properties`, `toml`, `yaml`, `yml` [R4C-CFG-001]",
        );
        ends(
            folder.file("a", b""),
            "a has no ending that tells its format: known are `json`, `properties`, `toml`, `yaml`, `yml` [R4C-CFG-001]",
        );
        ends(
            folder.file("b.properties", b"a=\xff"),
            "b.properties:1 [R4C-CFG-002]",
        );
        #[cfg(all(feature = "toml", feature = "yaml", feature = "json"))]
        for name in ["b.toml", "b.yaml", "b.json"] {
            ends(
                folder.file(name, b"\r\n\xff"),
                &format!(
                    "the byte at offset 2 is not UTF-8; at {}:2 [R4C-CFG-002]",
                    folder.0.join(name).display()
                ),
            );
        }
        let large = vec![b'#'; LARGEST as usize + 1];
        ends(
            folder.file("c.properties", &large),
            "is larger than 1048576 bytes [R4C-CFG-001]",
        );
        assert!(read(&folder.file("d.properties", &large[1..])).is_ok());
    }
}
