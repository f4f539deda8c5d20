//! Keeps what different threads write on different cache lines.

use std::ops::Deref;

/// A value on cache lines of its own.
///
/// 128 bytes: x86-64 processors since Sandy Bridge prefetch lines in pairs (Intel 64 and IA-32 Architectures
/// Optimization Reference Manual, 2.1.5.4), and Apple's ARM cores have lines of that size.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> Deref for Padded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
