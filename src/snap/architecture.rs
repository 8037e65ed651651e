//! Architectures of machines.

use super::{SnapTextError, as_string};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An architecture by the name that Juju, snapd and Debian have for it. The store gives each its own
/// revision numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Architecture {
    /// `amd64`.
    Amd64,
    /// `arm64`.
    Arm64,
    /// `ppc64el`.
    Ppc64el,
    /// `riscv64`.
    Riscv64,
    /// `s390x`.
    S390x,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Amd64, Self::Arm64, Self::Ppc64el, Self::Riscv64, Self::S390x];

    /// The name as Juju, snapd and Debian spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
            Self::Ppc64el => "ppc64el",
            Self::Riscv64 => "riscv64",
            Self::S390x => "s390x",
        }
    }

    /// The one that this executable was built for, and so the machine's.
    pub fn of_this_machine() -> Self {
        Self::of_kernel(std::env::consts::ARCH).unwrap_or(Self::Amd64)
    }

    /// The one that a kernel, or the compiler, calls so.
    pub fn of_kernel(name: &str) -> Option<Self> {
        Some(match name {
            "x86_64" => Self::Amd64,
            "aarch64" => Self::Arm64,
            "ppc64le" | "powerpc64" => Self::Ppc64el,
            "riscv64" => Self::Riscv64,
            "s390x" => Self::S390x,
            _ => return None,
        })
    }
}

impl FromStr for Architecture {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        let known = "it must be amd64, arm64, ppc64el, riscv64 or s390x";
        let found = Self::ALL.into_iter().find(|arch| arch.as_str() == text);
        found.ok_or_else(|| SnapTextError::new(text, "an architecture", known))
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

as_string!(Architecture);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_juju_and_not_those_of_the_kernel() {
        for arch in Architecture::ALL {
            assert_eq!(arch.to_string().parse(), Ok(arch));
        }
        for bad in ["x86_64", "aarch64", "AMD64", ""] {
            assert!(bad.parse::<Architecture>().is_err(), "{bad}");
        }
        assert_eq!(Architecture::of_kernel("aarch64"), Some(Architecture::Arm64));
        assert_eq!(Architecture::of_kernel("amd64"), None);
    }
}
