//! The stable codes, in one table. Each has a page in docs/errors/.

use std::fmt;

/// A stable code that names a kind of error, such as `R4C-REG-008`.
///
/// Codes never change their meaning; messages may. Compile errors of the attribute carry the `ATR` codes in their text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

macro_rules! codes {
    ($($name:ident = $text:literal, $title:literal;)*) => {
        impl Code {
            $(#[doc = concat!("`", $text, "`: ", $title, ".")]
            pub const $name: Code = Code($text);)*

            /// Every code with its title, in the order of the documentation.
            pub const TABLE: &[(Code, &str)] = &[$((Code::$name, $title)),*];
        }
    };
}

codes! {
    LIMIT_EXCEEDED = "R4C-CALL-001", "rejected: the calls in flight are at the limit";
    TIMED_OUT = "R4C-CALL-002", "the call took longer than its time-out";
    BULKHEAD_FULL = "R4C-CALL-003", "rejected: the bulkhead is full";
    INVALID_SETTING = "R4C-REG-001", "a setting given in code is out of its range";
    UNKNOWN_ALGORITHM = "R4C-REG-002", "an algorithm that is neither built in nor added to the registry";
    RESERVED_NAME = "R4C-REG-003", "a name that is empty or reserved";
    UNKNOWN_CONFIG = "R4C-REG-004", "a named config that the registry does not have";
    GLOBAL_ALREADY_SET = "R4C-REG-005", "the process-wide registry was set or used already";
    SETTINGS_DIFFER = "R4C-REG-008", "one name given to limits with different settings";
    UNKNOWN_INSTANCE = "R4C-REG-009", "an id that no instance of the registry has";
    ATTRIBUTE_DURATION = "R4C-ATR-001", "a duration that cannot be read";
    ATTRIBUTE_UNKNOWN_OPTION = "R4C-ATR-002", "an option the attribute does not have";
    ATTRIBUTE_BOUND_BELOW_ONE = "R4C-ATR-003", "a limit below 1";
    ATTRIBUTE_WRONG_VALUE = "R4C-ATR-004", "a value of the wrong kind";
    ATTRIBUTE_DUPLICATE_OPTION = "R4C-ATR-005", "an option given twice";
    ATTRIBUTE_UNKNOWN_ALGORITHM = "R4C-ATR-006", "an algorithm the attribute does not know";
    ATTRIBUTE_BAD_NAME = "R4C-ATR-007", "a name that is empty or contains control characters";
    ATTRIBUTE_NOT_LIMITABLE = "R4C-ATR-008", "an item that cannot be limited";
    ATTRIBUTE_OUT_OF_RANGE = "R4C-ATR-009", "bounds out of order, or a bound or window out of range";
    ATTRIBUTE_OUTPUT = "R4C-ATR-010", "an output that the attribute cannot work with as it stands";
}

impl Code {
    /// Returns the code's text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}
