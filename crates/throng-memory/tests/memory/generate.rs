//! Random programs, and random variations of classical shapes, which random programs hardly ever
//! hit.

use throng_memory::Order;
use throng_memory::litmus::{Instruction, Litmus};
use throng_memory::rules::Location;
use throng_model::random::Random;

/// Which orders and fences the programs use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavour {
    /// Reads acquire, writes release.
    ReleaseAcquire,
    /// Relaxed accesses, acquire and release fences.
    Relaxed,
    /// Sequentially consistent fences beside.
    Fences,
    /// Plain accesses of one location beside.
    Plain,
    /// Sequentially consistent accesses beside.
    Sequential,
}

impl Flavour {
    pub const ALL: [Flavour; 5] =
        [Flavour::ReleaseAcquire, Flavour::Relaxed, Flavour::Fences, Flavour::Plain, Flavour::Sequential];

    fn read(self, random: &mut Random) -> Order {
        match self {
            Flavour::ReleaseAcquire => Order::Acquire,
            Flavour::Sequential => {
                random.pick(&[Order::Relaxed, Order::Acquire, Order::SeqCst, Order::SeqCst])
            }
            _ => random.pick(&[Order::Relaxed, Order::Acquire]),
        }
    }

    fn write(self, random: &mut Random) -> Order {
        match self {
            Flavour::ReleaseAcquire => Order::Release,
            Flavour::Sequential => {
                random.pick(&[Order::Relaxed, Order::Release, Order::SeqCst, Order::SeqCst])
            }
            _ => random.pick(&[Order::Relaxed, Order::Release]),
        }
    }

    fn update(self, random: &mut Random) -> Order {
        let weak = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
        match self {
            Flavour::ReleaseAcquire => Order::AcqRel,
            Flavour::Sequential if random.below(3) == 0 => Order::SeqCst,
            _ => random.pick(&weak),
        }
    }

    fn fence(self, random: &mut Random) -> Order {
        let some = [Order::SeqCst, Order::SeqCst, Order::Acquire, Order::Release];
        match self {
            Flavour::ReleaseAcquire => Order::SeqCst,
            Flavour::Fences | Flavour::Sequential => random.pick(&some),
            _ => random.pick(&[Order::Acquire, Order::Release, Order::AcqRel]),
        }
    }
}

/// A program, with its random decisions.
struct Making<'r> {
    random: &'r mut Random,
    flavour: Flavour,
    plain: Option<Location>,
}

impl Making<'_> {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    fn is_plain(&self, x: Location) -> bool {
        self.plain == Some(x)
    }

    fn load(&mut self, x: Location) -> Instruction {
        let order = if self.is_plain(x) { Order::Plain } else { self.flavour.read(self.random) };
        Instruction::Load(x, order)
    }

    fn store(&mut self, x: Location, value: i64) -> Instruction {
        let order = if self.is_plain(x) { Order::Plain } else { self.flavour.write(self.random) };
        Instruction::Store(x, value, order)
    }

    fn fence(&mut self) -> Instruction {
        Instruction::Fence(self.flavour.fence(self.random))
    }

    fn wait(&mut self, x: Location, value: i64) -> Instruction {
        let order = self.flavour.read(self.random);
        match self.chance(60) {
            true => Instruction::Wait(x, value, order),
            false => Instruction::WaitNot(x, value ^ 1, order),
        }
    }

    fn update(&mut self, x: Location, value: i64) -> Instruction {
        let order = self.flavour.update(self.random);
        let other = self.random.below(3) as i64;
        match self.random.below(4) {
            0 => Instruction::Add(x, value & 1, order),
            1 => Instruction::Exchange(x, value, order),
            2 => Instruction::Replace(x, value, other, order),
            _ => Instruction::CompareExchange(x, value, other, order, self.flavour.read(self.random)),
        }
    }

    fn any(&mut self, x: Location, updates: usize) -> Instruction {
        let value = self.random.pick(&[0, 1, 1, 2]);
        match (self.is_plain(x), self.random.below(100)) {
            (true, n) if n < 50 => self.load(x),
            (true, _) => self.store(x, value),
            (false, n) if n < updates => self.update(x, value),
            (false, n) if n < updates + 8 => self.wait(x, value),
            (false, n) if n < updates + 14 => Instruction::StoreRegister(x, self.flavour.write(self.random)),
            (false, n) if n % 2 == 0 => self.load(x),
            (false, _) => self.store(x, value),
        }
    }

    fn thread(&mut self, locations: u32, most: usize) -> Vec<Instruction> {
        let fences = self.random.pick(&[5, 15, 30]);
        let updates = self.random.pick(&[10, 25, 45]);
        let mut code = Vec::new();
        for _ in 0..2 + self.random.below(most - 1) {
            if self.chance(fences) {
                code.push(self.fence());
            } else {
                let x = self.random.below(locations as usize) as Location;
                code.push(self.any(x, updates));
            }
            if self.chance(10) {
                code.push(Instruction::IfEqual(self.random.below(2) as i64));
            }
        }
        code
    }
}

/// A random program.
pub fn random(random: &mut Random, flavour: Flavour) -> Litmus {
    let threads = random.pick(&[2, 2, 2, 3]);
    let locations: u32 = random.pick(&[2, 2, 2, 3]);
    let plain = (flavour == Flavour::Plain).then_some(locations - 1);
    let mut making = Making { random, flavour, plain };
    let most = if threads == 2 { 4 } else { 3 };
    Litmus { threads: (0..threads).map(|_| making.thread(locations, most)).collect(), values: 3 }
}

/// `W` a store, `R` a load, `U` a read-modify-write; then the location, and the value.
const SHAPES: &[&[&str]] = &[
    &["W01 R1", "W11 R0"],
    &["W01 R1", "W11 R2", "W21 R0"],
    &["W01 W11", "R1 R0"],
    &["W01 W12", "W11 W02"],
    &["W02 W11", "R1 W01"],
    &["W01 W11", "W12 R0"],
    &["R0 W11", "R1 W01"],
    &["W01", "R0 W11", "R1 R0"],
    &["W01", "R0 R1", "W11 R0"],
    &["W02", "R0 W11", "R1 W01"],
    &["W01 W11", "R1 W21", "R2 R0"],
    &["W01 W11", "R1 R2", "W21 R0"],
    &["W01 W11", "W12 W21", "R2 R0"],
    &["W01", "W11", "R0 R1", "R1 R0"],
    &["W01 W11", "U1", "R1 R0"],
    &["W01 W11 W12", "U1", "R1 R0"],
    &["W01 R1 R1", "W11 R0", "W12"],
    &["W01", "R0 W11", "W12 R0"],
    &["W01 W12", "W11 W22", "W21 W02"],
];

/// A variation of a classical shape.
pub fn shape(random: &mut Random, flavour: Flavour) -> Litmus {
    let shape = random.pick(SHAPES);
    let plain = (flavour == Flavour::Plain && random.below(5) != 0).then_some(0);
    let mut making = Making { random, flavour, plain };
    let fences = match flavour {
        Flavour::Fences | Flavour::Relaxed => making.random.pick(&[0, 30, 60, 90]),
        _ => making.random.pick(&[0, 20]),
    };
    let updates = making.random.pick(&[0, 0, 15, 30]);
    let threads = shape.iter().map(|thread| making.varied(thread, fences, updates)).collect();
    Litmus { threads, values: 3 }
}

impl Making<'_> {
    fn varied(&mut self, thread: &str, fences: usize, updates: usize) -> Vec<Instruction> {
        let mut code = Vec::new();
        for (k, word) in thread.split(' ').enumerate() {
            if k != 0 && self.chance(fences) {
                code.push(self.fence());
            }
            let digit = |i| word[i..].chars().next().and_then(|c| c.to_digit(10)).unwrap_or(1);
            let x = digit(1);
            let value = word.get(2..3).map_or(1, |_| i64::from(digit(2)));
            let update = !self.is_plain(x) && self.chance(updates);
            code.push(match &word[..1] {
                "U" => self.update(x, 1),
                "W" if update => Instruction::Exchange(x, value, self.flavour.update(self.random)),
                "W" => self.store(x, value),
                _ if update => Instruction::Add(x, 0, self.flavour.update(self.random)),
                _ if k == 0 && !self.is_plain(x) && self.chance(30) => self.wait(x, 1),
                _ => self.load(x),
            });
        }
        code
    }
}
