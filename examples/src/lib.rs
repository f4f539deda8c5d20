//! Programs that show the library at work: see `src/bin/`.
