//! The bits of a slice, as variables of the program.

use std::collections::BTreeMap;

use throng_goto::program::{Int, Object, Program, address};
use throng_memory::Order;
use throng_memory::rules::{Access as Rule, Bit, Class, Features, Mine, Monitor, Of};

use super::places::Places;
use super::{Asks, Slice};

/// The target in the rules, and any other location: no rule about one reads the bits of another.
pub const TARGET: u32 = 0;
/// See [`TARGET`].
pub const OTHER: u32 = 1;

/// The type of a bit.
pub const BIT: Int = Int::new(1, false);

/// Shared variables of the monitor, which are no bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shared {
    /// The stale write, or the earlier access, was chosen.
    Begun,
    /// The last write was chosen.
    Last,
    /// The value of the stale write.
    Value,
    /// It was overwritten by an operation that has read it.
    Read,
    /// The earlier access writes.
    Writes,
    /// It is atomic.
    Atomic,
}

/// The variables of a slice.
pub struct Ghosts {
    /// The rules.
    pub monitor: Monitor,
    /// The bits of threads: their registers, in this order.
    pub own: Vec<Mine>,
    shared: BTreeMap<Shared, i64>,
    locations: BTreeMap<(Of, i64), i64>,
}

impl Ghosts {
    /// Adds the shared variables of a slice to a program.
    pub fn new(program: &mut Program, places: &Places, slice: Slice) -> Ghosts {
        let rules = places.rules(program);
        let monitor = match slice.asks {
            Asks::Robust => Monitor::new(TARGET, Class::Valued, [TARGET, OTHER], Features::of(&rules)),
            Asks::Race => {
                let rules: Vec<Rule> =
                    rules.iter().map(|r| Rule { order: without_order(r.order), ..*r }).collect();
                Monitor::new(TARGET, Class::Watched, [OTHER], Features::of(&rules))
            }
        };
        let mut ghosts =
            Ghosts { monitor, own: Vec::new(), shared: BTreeMap::new(), locations: BTreeMap::new() };
        let ty = places.at(slice.address).ty.unwrap_or(BIT);
        for which in
            [Shared::Begun, Shared::Last, Shared::Value, Shared::Read, Shared::Writes, Shared::Atomic]
        {
            let robust = matches!(which, Shared::Last | Shared::Value | Shared::Read);
            if which == Shared::Begun || robust == (slice.asks == Asks::Robust) {
                let ty = if which == Shared::Value { ty } else { BIT };
                let name = format!("monitor.{}", format!("{which:?}").to_lowercase());
                ghosts.shared.insert(which, object(program, name, ty, 0));
            }
        }
        for (bit, _) in ghosts.monitor.bits() {
            match bit {
                Bit::Thread(mine) => ghosts.own.push(mine),
                Bit::Location(of, location) => {
                    let here =
                        |a: i64| (a == slice.address && slice.asks == Asks::Robust) == (location == TARGET);
                    for (&a, _) in places.used.iter().filter(|(a, u)| u.is_source() && here(**a)) {
                        let name = program.name_of(a).unwrap_or_else(|| "memory".into());
                        let name = format!("monitor.{}.{name}", format!("{of:?}").to_lowercase());
                        let cell = object(program, name, BIT, u16::from(is_view(of)));
                        ghosts.locations.insert((of, a), cell);
                    }
                }
                Bit::Nothing => {}
            }
        }
        ghosts
    }

    /// The address of a shared variable.
    pub fn shared(&self, which: Shared) -> i64 {
        self.shared.get(&which).copied().unwrap_or(0)
    }

    /// The address of a bit of a location, if there is one.
    pub fn of(&self, of: Of, a: i64) -> Option<i64> {
        self.locations.get(&(of, a)).copied()
    }

    /// The place of a bit of threads among their registers.
    pub fn place(&self, mine: Mine) -> Option<usize> {
        self.own.iter().position(|m| *m == mine)
    }
}

/// Returns whether a bit is a view, which knows nothing before something is chosen.
fn is_view(of: Of) -> bool {
    !matches!(of, Of::WriterAware | Of::ReaderAware)
}

/// What is known to happen before by the order of sequentially consistent operations alone does
/// not happen before.
pub fn without_order(order: Order) -> Order {
    if order == Order::SeqCst { Order::AcqRel } else { order }
}

/// Adds a shared variable.
fn object(program: &mut Program, name: String, ty: Int, initial: u16) -> i64 {
    let mut init = vec![0; usize::from(ty.size)];
    init[0] = initial;
    program.objects.push(Object {
        name,
        init,
        base: 0,
        align: 3,
        parts: vec![(0, ty, String::new())],
        visible: true,
        global: true,
        library: false,
        leaves: false,
        external: false,
    });
    address(program.objects.len() as i64, 0)
}
