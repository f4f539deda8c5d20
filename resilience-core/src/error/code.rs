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
    QUEUE_FULL = "R4C-CALL-004", "rejected: the calls in flight are at the limit, and as many wait as may";
    WAIT_TIMED_OUT = "R4C-CALL-005", "rejected: no slot came free in the time that the call may wait";
    INVALID_SETTING = "R4C-REG-001", "a setting given in code is out of its range";
    UNKNOWN_ALGORITHM = "R4C-REG-002", "an algorithm that is neither built in nor added to the registry";
    RESERVED_NAME = "R4C-REG-003", "a name that is empty or reserved";
    UNKNOWN_CONFIG = "R4C-REG-004", "a named config that the registry does not have";
    GLOBAL_ALREADY_SET = "R4C-REG-005", "the process-wide registry was set or used already";
    UNKNOWN_KIND = "R4C-REG-006", "a kind of errors that is neither built in nor added to the registry";
    SETTINGS_DIFFER = "R4C-REG-008", "one name given to limits with different settings";
    UNKNOWN_INSTANCE = "R4C-REG-009", "an id that no instance of the registry has";
    CONFIG_UNREADABLE = "R4C-CFG-001", "a file of settings that cannot be read";
    CONFIG_SYNTAX = "R4C-CFG-002", "a file of settings whose text is not what its format wants";
    CONFIG_UNKNOWN_SECTION = "R4C-CFG-003", "a key in an unknown section";
    CONFIG_MALFORMED_KEY = "R4C-CFG-004", "a key that is not complete, or has a part that has no place there";
    CONFIG_UNKNOWN_PROPERTY = "R4C-CFG-005", "a key with an unknown policy or property";
    CONFIG_WRONG_VALUE = "R4C-CFG-006", "a value in a file or variable that is of the wrong kind";
    CONFIG_OUT_OF_RANGE = "R4C-CFG-007", "a value in a file or variable that is out of its range";
    CONFIG_GIVEN_TWICE = "R4C-CFG-008", "a setting that one source gives twice";
    CONFIG_VARIABLE_UNMATCHED = "R4C-CFG-009", "a variable that is about no known instance or config";
    CONFIG_VARIABLE_AMBIGUOUS = "R4C-CFG-010", "a variable that is about more than one instance or config";
    CONFIG_UNKNOWN_INSTANCE = "R4C-CFG-011", "settings for an instance that nothing has";
    CONFIG_UNUSED = "R4C-CFG-012", "a named config that no instance is based on";
    CONFIG_VANISHED = "R4C-CFG-013", "a file of settings that was there and is gone or empty on a reload";
    CONFIG_OTHER_POLICY = "R4C-CFG-014", "settings of a policy that is not known";
    CONFIG_NO_EFFECT = "R4C-CFG-015", "a setting that the instance's algorithm does not have";
    SCENARIO = "R4C-SIM-001", "a scenario of the simulator that cannot be read";
    ATTRIBUTE_DURATION = "R4C-ATR-001", "a duration that cannot be read";
    ATTRIBUTE_UNKNOWN_OPTION = "R4C-ATR-002", "an option the attribute does not have";
    ATTRIBUTE_BOUND_BELOW_ONE = "R4C-ATR-003", "a limit below 1";
    ATTRIBUTE_WRONG_VALUE = "R4C-ATR-004", "a value of the wrong kind";
    ATTRIBUTE_DUPLICATE_OPTION = "R4C-ATR-005", "an option given twice";
    ATTRIBUTE_UNKNOWN_ALGORITHM = "R4C-ATR-006", "an algorithm the attribute does not know";
    ATTRIBUTE_BAD_NAME = "R4C-ATR-007", "a name that is empty or contains control characters";
    ATTRIBUTE_NOT_LIMITABLE = "R4C-ATR-008", "an item that cannot be limited";
    ATTRIBUTE_OUT_OF_RANGE = "R4C-ATR-009", "bounds out of order, or a bound, window or wait out of range";
    ATTRIBUTE_OUTPUT = "R4C-ATR-010", "an output that the attribute cannot work with as it stands";
    ATTRIBUTE_WITHOUT_EFFECT = "R4C-ATR-011", "an option that does nothing without another one";
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
