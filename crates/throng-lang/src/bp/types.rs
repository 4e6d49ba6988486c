//! The types of variables, the bits of each, and how their values are shown.

use super::lower::number::width;
use super::program::Variable;
use throng_model::cubes::{FREE, ONE};

/// The type of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// 0 and 1.
    Bool,
    /// The numbers between two bounds; leaving them is a violation.
    Range(i64, i64),
    /// Numbers of this many bits; arithmetic wraps around.
    Wrap(u32),
    /// One of these.
    Enum {
        /// The name of the enumeration.
        name: String,
        /// Its values.
        values: Vec<String>,
    },
}

impl Type {
    /// Returns the least and the greatest number that stands for a value.
    pub fn bounds(&self) -> (i64, i64) {
        match self {
            Type::Bool => (0, 1),
            Type::Range(low, high) => (*low, *high),
            Type::Wrap(bits) => (0, (1 << bits) - 1),
            Type::Enum { values, .. } => (0, values.len() as i64 - 1),
        }
    }

    /// Returns how many bits a variable has.
    pub fn bits(&self) -> usize {
        let (low, high) = self.bounds();
        // A type with one value has a bit, too, so that every declared variable exists.
        width(low, high).max(1)
    }

    /// Returns the least and the greatest number that the bits can encode.
    pub fn raw_bounds(&self) -> (i64, i64) {
        let bits = self.bits();
        if self.bounds().0 < 0 { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// Returns whether every pattern of bits is a value.
    pub fn is_full(&self) -> bool {
        self.bounds() == self.raw_bounds()
    }

    /// Returns its values in words: `0..3`, `idle, trying`.
    pub fn values_text(&self) -> String {
        match self {
            Type::Enum { values, .. } => values.join(", "),
            _ => format!("{}..{}", self.bounds().0, self.bounds().1),
        }
    }

    /// Returns the value of known bits, lowest first. Bits that are not a value stand for the
    /// nearest one.
    pub fn show(&self, bits: impl Iterator<Item = bool>) -> String {
        let (low, high) = self.bounds();
        let code = bits.enumerate().fold(0i64, |code, (i, bit)| code | i64::from(bit) << i);
        let sign = 1i64 << (self.bits() - 1);
        let code = if low < 0 && code & sign != 0 { code - 2 * sign } else { code };
        let value = code.clamp(low, high);
        match self {
            Type::Enum { values, .. } => values[value as usize].clone(),
            _ => value.to_string(),
        }
    }
}

/// The bits of one variable, or of one element of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name: `n`, `a[2]`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The names of its bits.
    pub bits: Vec<String>,
}

/// The groups of a program; a Boolean variable, which is its own bit, is not in a group.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Groups {
    /// The groups of the shared variables.
    pub shared: Vec<Group>,
    /// The groups of the thread-local variables.
    pub thread_locals: Vec<Group>,
    /// The groups of the variables of each function.
    pub functions: Vec<Vec<Group>>,
}

/// Returns the indices of the bits of a variable, of an element of an array or of a whole array;
/// `None` if there is none of that name.
pub fn bits_of(name: &str, variables: &[Variable], groups: &[Group]) -> Option<Vec<u32>> {
    let is_it = |group: &&Group| {
        let rest = group.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let bits: Vec<&str> = groups.iter().filter(is_it).flat_map(|g| &g.bits).map(String::as_str).collect();
    let found =
        variables.iter().enumerate().filter(|(_, v)| v.name == name || bits.contains(&v.name.as_str()));
    let found: Vec<u32> = found.map(|(i, _)| i as u32).collect();
    (!found.is_empty()).then_some(found)
}

impl Groups {
    /// Returns the groups visible in a function: its own hide the thread-local ones.
    pub fn visible(&self, function: usize) -> Vec<&Group> {
        self.functions.get(function).into_iter().flatten().chain(&self.thread_locals).collect()
    }
}

/// Returns the values of variables as the user declared them: the bits of a group are one value,
/// `*` if they are not all known.
pub fn grouped(variables: &[Variable], masks: &[u8], groups: &[Group]) -> Vec<(String, String)> {
    let mut shown = Vec::new();
    let mut at = 0;
    while let Some(variable) = variables.get(at) {
        let group = groups.iter().find(|g| {
            g.bits.first() == Some(&variable.name)
                && variables
                    .get(at..at + g.bits.len())
                    .is_some_and(|vs| vs.iter().map(|v| &v.name).eq(&g.bits))
        });
        let length = group.map_or(1, |g| g.bits.len());
        let bits = &masks[at..at + length];
        let value = match group {
            _ if bits.contains(&FREE) => "*".into(),
            Some(group) => group.ty.show(bits.iter().map(|&m| m == ONE)),
            None => u8::from(bits[0] == ONE).to_string(),
        };
        shown.push((group.map_or(&variable.name, |g| &g.name).clone(), value));
        at += length;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_model::cubes::ZERO;

    #[test]
    fn bits_are_shown_as_values() {
        let variable = |name: &str| Variable { name: name.into(), initial: FREE };
        let group = |name: &str, ty: Type, bits: &[&str]| Group {
            name: name.into(),
            ty,
            bits: bits.iter().map(|b| b.to_string()).collect(),
        };
        let values = vec!["idle".into(), "trying".into(), "critical".into()];
        let groups = [
            group("n", Type::Range(-2, 1), &["n.0", "n.1"]),
            group("p", Type::Enum { name: "phase".into(), values }, &["p.0", "p.1"]),
            group("a[1]", Type::Wrap(1), &["a.1.0"]),
        ];
        let variables = ["n.0", "n.1", "x", "p.0", "p.1", "a.1.0"].map(variable);
        let show = |masks: [u8; 6]| {
            let values = grouped(&variables, &masks, &groups);
            values.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(show([ZERO, ONE, ONE, ZERO, ONE, ONE]), "n=-2 x=1 p=critical a[1]=1");
        assert_eq!(show([ONE, FREE, FREE, ONE, ONE, FREE]), "n=* x=* p=critical a[1]=*");
    }

    #[test]
    fn a_type_has_as_many_bits_as_its_values_need() {
        for (ty, bits, full) in [
            (Type::Range(0, 7), 3, true),
            (Type::Range(0, 4), 3, false),
            (Type::Range(-4, 3), 3, true),
            (Type::Range(-5, 0), 4, false),
            (Type::Range(3, 3), 2, false),
            (Type::Range(0, 0), 1, false),
            (Type::Wrap(5), 5, true),
        ] {
            assert_eq!((ty.bits(), ty.is_full()), (bits, full), "{ty:?}");
        }
    }
}
