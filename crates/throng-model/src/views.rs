//! A compact form of pair views, i.e. of shared states with at most two threads, that is evidence
//! without listing them one by one.
//!
//! Local states have numbers. For each shared state, rows of bits say which of them may occur
//! together ([`crate::bits`]). Equal rows of a shared state are kept once, so that many states that
//! may all occur together are cheap, and so are many of which few do.

use std::hash::{Hash, Hasher};
use std::iter;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use crate::bits::{Bits, Row, members};
use crate::{Config, Local, Shared};

/// Views that contain every view of every initial configuration and are closed under steps as
/// `throng::engine::views` defines; the checker has to establish both.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Views {
    locals: IndexSet<Local, FxBuildHasher>,
    groups: IndexMap<Shared, Group, FxBuildHasher>,
}

/// The views with one shared state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The local states that may occur, by number: places, words, and how many local states come
    /// before each place.
    places: Box<[u32]>,
    here: Box<[u64]>,
    before: Box<[u32]>,
    /// For each local state, in order, the number of its row.
    row_of: Box<[u32]>,
    rows: Rows,
}

/// The different rows of bits.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Rows {
    /// Each row has a word for each place of the group.
    Full(Box<[u64]>),
    /// Each row has words for places of its own, up to where the next row begins.
    Sparse { ends: Box<[u32]>, places: Box<[u32]>, words: Box<[u64]> },
}

/// Views with one shared state, as certificates write them: each state of `left` and `right` alone,
/// and each of `left` together with each of `right`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The shared state.
    pub shared: Shared,
    /// Some local states.
    pub left: Vec<Local>,
    /// The local states that may occur together with each of `left`; `None` stands for `left`
    /// itself.
    pub right: Option<Vec<Local>>,
}

impl Group {
    /// Returns the local states that may occur.
    pub fn all(&self) -> Row<'_> {
        Row::new(&self.places, &self.here)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match &self.rows {
            Rows::Full(words) if self.places.is_empty() => words.len(),
            Rows::Full(words) => words.len() / self.places.len(),
            Rows::Sparse { ends, .. } => ends.len(),
        }
    }

    /// Returns a row by its number.
    pub fn row(&self, row: u32) -> Row<'_> {
        let row = row as usize;
        match &self.rows {
            Rows::Full(words) => {
                let width = self.places.len();
                Row::new(&self.places, &words[row * width..(row + 1) * width])
            }
            Rows::Sparse { ends, places, words } => {
                let from = if row == 0 { 0 } else { ends[row - 1] as usize };
                Row::new(&places[from..ends[row] as usize], &words[from..ends[row] as usize])
            }
        }
    }

    /// Returns the number of the row of a local state, if it may occur.
    pub fn row_of(&self, a: u32) -> Option<u32> {
        let place = self.places.binary_search(&(a / 64)).ok()?;
        let (word, bit) = (self.here[place], 1 << (a % 64));
        let rank = self.before[place] + (word & (bit - 1)).count_ones();
        (word & bit != 0).then(|| self.row_of[rank as usize])
    }

    /// Returns the local states that may occur together with `a`.
    pub fn with(&self, a: u32) -> Option<Row<'_>> {
        Some(self.row(self.row_of(a)?))
    }

    /// Returns whether two local states may occur together.
    pub fn pair(&self, a: u32, b: u32) -> bool {
        self.with(a).is_some_and(|row| row.contains(b))
    }

    /// Returns whether each two of these may occur together.
    pub fn together(&self, threads: &[u32]) -> bool {
        let beside = |(i, &a): (usize, &u32)| {
            self.with(a).is_some_and(|row| threads[i + 1..].iter().all(|&b| row.contains(b)))
        };
        threads.iter().enumerate().all(beside)
    }

    /// Returns the states of each row, in order.
    fn classes(&self) -> Vec<Vec<u32>> {
        let mut classes = vec![Vec::new(); self.rows()];
        self.all().iter().zip(&self.row_of).for_each(|(a, &row)| classes[row as usize].push(a));
        classes
    }

    /// Returns whether each state in the row of `a` occurs and has `a` in its own row, for every
    /// `a`.
    pub fn is_symmetric(&self) -> bool {
        let partners: u64 = (0..self.rows() as u32).map(|row| self.row(row).len()).sum();
        match &self.rows {
            // Comparing 64 by 64 pairs takes about as long as a hundred single ones.
            Rows::Full(words) if partners / 128 > (self.places.len() as u64).pow(2) => (0..self.places.len())
                .all(|p| (0..=p).all(|q| transposed(self.tile(words, p, q)) == self.tile(words, q, p))),
            _ => self.is_symmetric_by_rows(),
        }
    }

    /// Returns, for each of the 64 states of a place, the word of its row at another place; 0 if
    /// the state does not occur.
    fn tile(&self, words: &[u64], p: usize, q: usize) -> [u64; 64] {
        let mut tile = [0; 64];
        for (n, &row) in members(self.here[p]).zip(&self.row_of[self.before[p] as usize..]) {
            tile[n as usize] = words[row as usize * self.places.len() + q];
        }
        tile
    }

    fn is_symmetric_by_rows(&self) -> bool {
        let rows = self.rows();
        // This sorts the states by row, and finds where those of each row end.
        let mut end = vec![0; rows];
        self.row_of.iter().for_each(|&row| end[row as usize] += 1);
        let mut sum = 0;
        end.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
        let mut states = vec![0; sum];
        // This gives the row of each state, 64 for each place.
        let mut row_at = vec![u32::MAX; 64 * self.places.len()];
        let all = self.places.iter().zip(&self.here).enumerate();
        let all = all.flat_map(|(i, (&place, &word))| members(word).map(move |n| (i, place, n)));
        for ((i, place, n), &row) in all.zip(&self.row_of) {
            let end = &mut end[row as usize];
            states[*end] = place * 64 + n;
            *end += 1;
            row_at[i * 64 + n as usize] = row;
        }
        // Rows that were already compared with the present one; many states have the same row.
        let mut compared = vec![u32::MAX; rows];
        let (mut class, mut from) = (Bits::default(), 0);
        (0..).zip(end).all(|(row, to)| {
            class.clear();
            class
                .extend(states[std::mem::replace(&mut from, to)..to].iter().map(|a| (a / 64, 1 << (a % 64))));
            self.row(row).by_word().all(|(place, word)| {
                let Ok(i) = self.places.binary_search(&place) else { return false };
                members(word).all(|n| {
                    let other = row_at[i * 64 + n as usize];
                    other != u32::MAX
                        && (std::mem::replace(&mut compared[other as usize], row) == row
                            || class.row().beyond(self.row(other)).is_none())
                })
            })
        })
    }

    /// Returns whether all local states that may occur may occur together.
    fn is_single(&self) -> bool {
        self.rows() <= 1 && (0..self.rows() as u32).all(|row| self.row(row) == self.all())
    }

    /// Returns the number of views that are not part of another.
    fn len(&self) -> u64 {
        if self.row_of.is_empty() {
            return 1;
        }
        let partners: Vec<u64> = (0..self.rows() as u32).map(|row| self.row(row).len()).collect();
        let (mut ones, mut twins, mut alone) = (0, 0, 0);
        for (a, &row) in self.all().iter().zip(&self.row_of) {
            ones += partners[row as usize];
            alone += u64::from(partners[row as usize] == 0);
            twins += u64::from(self.row(row).contains(a));
        }
        (ones + twins) / 2 + alone
    }
}

/// Transposes a tile: the upper right and the lower left quarter are exchanged, then those of each
/// quarter, and so on.
fn transposed(mut tile: [u64; 64]) -> [u64; 64] {
    let (mut width, mut mask) = (32, u64::MAX >> 32);
    while width > 0 {
        for i in (0..64).filter(|i| i & width == 0) {
            let differs = (tile[i] >> width ^ tile[i + width]) & mask;
            tile[i] ^= differs << width;
            tile[i + width] ^= differs;
        }
        width /= 2;
        mask ^= mask << width;
    }
    tile
}

/// Builds the views of one shared state after another.
#[derive(Default)]
pub struct Builder {
    views: Views,
    all: Bits,
    row_of: Vec<u32>,
    /// Rows, one after another, and their hashes, by which equal rows are found. If two hashes
    /// collide, a row may be stored twice.
    ends: Vec<u32>,
    places: Vec<u32>,
    words: Vec<u64>,
    known: FxHashMap<u64, u32>,
}

impl Builder {
    /// Starts without views of these local states, which are numbered in this order.
    pub fn new(locals: impl IntoIterator<Item = Local>) -> Builder {
        let locals = locals.into_iter().collect();
        Builder { views: Views { locals, groups: IndexMap::default() }, ..Builder::default() }
    }

    /// Adds a row for local states of the next shared state: the states that may occur together
    /// with each of them. The words are sorted by place, and none is 0.
    pub fn row(&mut self, words: impl Iterator<Item = (u32, u64)> + Clone) -> u32 {
        let mut hasher = FxHasher::default();
        words.clone().for_each(|word| word.hash(&mut hasher));
        let next = self.ends.len() as u32;
        let found = *self.known.entry(hasher.finish()).or_insert(next);
        if found != next {
            let from = if found == 0 { 0 } else { self.ends[found as usize - 1] as usize };
            let to = self.ends[found as usize] as usize;
            if Row::new(&self.places[from..to], &self.words[from..to]).by_word().eq(words.clone()) {
                return found;
            }
        }
        words.for_each(|(place, word)| {
            self.places.push(place);
            self.words.push(word);
        });
        self.ends.push(self.words.len() as u32);
        next
    }

    /// Adds a local state that may occur with the next shared state, with its row. They must come
    /// in ascending order.
    pub fn member(&mut self, a: u32, row: u32) {
        self.all.extend([(a / 64, 1 << (a % 64))]);
        self.row_of.push(row);
    }

    /// Completes the views with the next shared state.
    pub fn finish(&mut self, shared: Shared) {
        let (places, here): (Vec<u32>, Vec<u64>) = self.all.row().by_word().unzip();
        let counts = here.iter().scan(0, |sum, word| Some(std::mem::replace(sum, *sum + word.count_ones())));
        let before = counts.collect();
        // A word takes eight bytes in a full row and twelve in a sparse one.
        let full = self.ends.len() * places.len();
        let rows = if full * 2 <= self.words.len() * 3 && self.is_within(&places) {
            let mut words = Vec::with_capacity(full);
            let mut from = 0;
            for &to in &self.ends {
                let row = Row::new(&self.places[from..to as usize], &self.words[from..to as usize]);
                let mut left = row.by_word().peekable();
                words.extend(places.iter().map(|&place| left.next_if(|e| e.0 == place).map_or(0, |e| e.1)));
                from = to as usize;
            }
            Rows::Full(words.into())
        } else {
            let (ends, places, words) = (&self.ends[..], &self.places[..], &self.words[..]);
            Rows::Sparse { ends: ends.into(), places: places.into(), words: words.into() }
        };
        let (places, here, row_of) = (places.into(), here.into(), self.row_of[..].into());
        self.views.groups.insert(shared, Group { places, here, before, row_of, rows });
        self.all.clear();
        self.row_of.clear();
        self.ends.clear();
        self.places.clear();
        self.words.clear();
        self.known.clear();
    }

    /// Returns whether all rows have words only at these places.
    fn is_within(&self, places: &[u32]) -> bool {
        self.places.iter().all(|place| places.binary_search(place).is_ok())
    }

    /// Returns all views.
    pub fn build(self) -> Views {
        let mut views = self.views;
        views.groups.sort_unstable_keys();
        views
    }
}

impl Views {
    /// Returns the pair views of single views: these say nothing about pairs, so all states that
    /// occur with a shared state may occur together.
    pub fn of_singles(states: impl IntoIterator<Item = (Shared, Vec<Local>)>) -> Views {
        Views::of_blocks(states.into_iter().map(|(shared, left)| Block { shared, left, right: None }))
    }

    /// Returns the views of some blocks. States that are in the same sides of blocks have the same
    /// row.
    pub fn of_blocks(blocks: impl IntoIterator<Item = Block>) -> Views {
        let mut by_shared: IndexMap<Shared, Vec<Block>, FxBuildHasher> = IndexMap::default();
        let mut locals: FxHashSet<Local> = FxHashSet::default();
        for block in blocks {
            locals.extend(block.left.iter().chain(block.right.iter().flatten()));
            by_shared.entry(block.shared).or_default().push(block);
        }
        let mut locals: Vec<Local> = locals.into_iter().collect();
        locals.sort_unstable();
        let mut facing = vec![Vec::new(); locals.len()];
        let mut builder = Builder::new(locals);
        for (shared, blocks) in by_shared {
            builder.add(&blocks, &mut facing);
            builder.finish(shared);
        }
        builder.build()
    }

    /// Returns the local states by number.
    pub fn local(&self, number: u32) -> Local {
        self.locals[number as usize]
    }

    /// Returns the number of a local state.
    pub fn number(&self, l: Local) -> Option<u32> {
        self.locals.get_index_of(&l).map(|number| number as u32)
    }

    /// Returns the shared states that may occur, in order, with their views.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (Shared, &Group)> + Clone {
        self.groups.iter().map(|(&s, group)| (s, group))
    }

    /// Returns the views with a shared state.
    pub fn group(&self, s: Shared) -> Option<&Group> {
        self.groups.get(&s)
    }

    /// Returns the local states that may occur with a shared state.
    pub fn singles<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = Local> + 'a {
        group.all().iter().map(|a| self.local(a))
    }

    /// Returns every shared state with every local state that may occur there.
    pub fn thread_states(&self) -> impl Iterator<Item = (Shared, Local)> + '_ {
        self.groups().flat_map(|(s, group)| self.singles(group).map(move |l| (s, l)))
    }

    /// Returns the local states that may occur.
    pub fn locals(&self) -> impl Iterator<Item = Local> + '_ {
        let mut words = vec![0_u64; self.locals.len().div_ceil(64)];
        let all = self.groups().flat_map(|(_, group)| group.all().by_word());
        all.for_each(|(place, word)| words[place as usize] |= word);
        let found: Bits = (0..).zip(words).collect();
        self.locals.iter().zip(0..).filter(move |e| found.row().contains(e.1)).map(|e| *e.0)
    }

    /// Returns the number of views that are not part of another.
    pub fn len(&self) -> usize {
        self.groups.values().map(Group::len).sum::<u64>() as usize
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns whether the views are of single threads: all states that occur with a shared state
    /// may occur together.
    pub fn are_single(&self) -> bool {
        self.groups.values().all(Group::is_single)
    }

    /// Returns the views that are not part of another.
    pub fn each(&self) -> impl Iterator<Item = Config> + '_ {
        self.groups().flat_map(move |(s, group)| {
            let view =
                move |threads: &[u32]| Config::new(s, threads.iter().map(|&a| self.local(a)).collect());
            let empty = group.row_of.is_empty().then(|| view(&[]));
            let pairs = group.all().iter().zip(&group.row_of).flat_map(move |(a, &row)| {
                let row = group.row(row);
                let alone = row.is_empty().then(|| view(&[a]));
                alone.into_iter().chain(row.iter().take_while(move |&b| b <= a).map(move |b| view(&[a, b])))
            });
            empty.into_iter().chain(pairs)
        })
    }

    /// Returns all views as blocks, by shared state, with sorted states in each block.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.groups().flat_map(move |(s, group)| {
            let sorted = |numbers: &mut dyn Iterator<Item = u32>| {
                let mut locals: Vec<Local> = numbers.map(|a| self.local(a)).collect();
                locals.sort_unstable();
                locals
            };
            let class = |(row, class): (u32, Vec<u32>)| {
                (sorted(&mut class.into_iter()), sorted(&mut group.row(row).iter()))
            };
            blocks(s, iter::zip(0.., group.classes()).map(class).collect())
        })
    }
}

impl Builder {
    /// Adds the rows and members of some blocks with one shared state. `facing` has an empty list
    /// for each local state, before and after.
    fn add(&mut self, blocks: &[Block], facing: &mut [Vec<u32>]) {
        let number = |ls: &[Local]| -> Vec<u32> {
            ls.iter().map(|l| self.views.number(*l).expect("a local state of a block")).collect()
        };
        let (mut sides, mut all): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
        // This lists for each local state the sides of blocks that it may occur with.
        for block in blocks {
            let (here, first) = (number(&block.left), sides.len() as u32);
            let there = block.right.as_ref().map_or_else(|| here.clone(), |right| number(right));
            let faced = here.iter().map(|&a| (a, first)).chain(there.iter().map(|&b| (b, first + 1)));
            for (a, side) in faced {
                if facing[a as usize].is_empty() {
                    all.push(a);
                }
                facing[a as usize].push(side);
            }
            sides.extend([there, here]);
        }
        all.sort_unstable();
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for a in all {
            let faced = std::mem::take(&mut facing[a as usize]);
            let row = known.get(&faced).copied().unwrap_or_else(|| {
                let partners: Bits =
                    faced.iter().flat_map(|&side| sides[side as usize].iter().copied()).collect();
                self.row(partners.row().by_word())
            });
            known.insert(faced, row);
            self.member(a, row);
        }
    }
}

/// Returns blocks from groups of local states that occur together with the same others, and those
/// others; no local state is in two groups.
fn blocks(shared: Shared, mut groups: Vec<(Vec<Local>, Vec<Local>)>) -> Vec<Block> {
    if groups.is_empty() {
        return vec![Block { shared, left: Vec::new(), right: None }];
    }
    if let [(all, together)] = &groups[..]
        && together.len() == all.len()
    {
        return vec![Block { shared, left: all.clone(), right: None }];
    }
    groups.sort_by_key(|(a, bs)| (std::cmp::Reverse(a.len() * bs.len()), a[0]));
    // Each pair is written with the first of its two states.
    let mut written: FxHashSet<Local> = FxHashSet::default();
    let mut found = Vec::new();
    for (left, mut right) in groups {
        let alone = right.is_empty();
        right.retain(|b| !written.contains(b));
        written.extend(&left);
        if !right.is_empty() || alone {
            found.push(Block { shared, left, right: Some(right) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns pairs of 200 local states with four shared states: all pairs, few, some with equal
    /// rows, and half of all.
    fn pairs(seed: u64) -> BTreeSet<(u64, u32, u32)> {
        let mut numbers = crate::random::Random::new(seed);
        let mut random = |below: usize| numbers.below(below);
        let few: Vec<(u64, u32, u32)> =
            (0..40).map(|_| (1, random(200) as u32, random(200) as u32)).collect();
        let alike: Vec<(u64, u32, u32)> = (0..8).map(|_| (2, random(4) as u32, random(4) as u32)).collect();
        let alike = alike.iter().flat_map(|&(s, a, b)| (0..5).map(move |i| (s, a * 50 + i, b * 50 + i * i)));
        let half: Vec<(u64, u32, u32)> =
            (0..8000).map(|_| (3, random(150) as u32, random(150) as u32)).collect();
        let all = (0..70).flat_map(|a| (0..70).map(move |b| (0, a, b)));
        all.chain(few).chain(alike).chain(half).flat_map(|(s, a, b)| [(s, a, b), (s, b, a)]).collect()
    }

    /// Returns the views of exactly these pairs.
    fn packed(pairs: &BTreeSet<(u64, u32, u32)>) -> Views {
        let mut builder = Builder::new((0..200).map(|l| Local(999 - l)));
        for s in 0..4 {
            let members: BTreeSet<u32> = pairs.iter().filter(|p| p.0 == s).map(|p| p.1).collect();
            for a in members {
                let with: Bits = pairs.iter().filter(|p| (p.0, p.1) == (s, a)).map(|p| p.2).collect();
                let row = builder.row(with.row().by_word());
                builder.member(a, row);
            }
            builder.finish(Shared(s));
        }
        builder.build()
    }

    #[test]
    fn packed_views_are_the_pairs_they_were_made_of() {
        for seed in 0..12 {
            let pairs = pairs(seed);
            let views = packed(&pairs);
            for (s, group) in views.groups() {
                let has = |a: u32, b: u32| pairs.contains(&(s.0, a, b));
                assert!((0..200).all(|a| (0..200).all(|b| group.pair(a, b) == has(a, b))), "{seed}");
                assert!(group.is_symmetric(), "{seed}");
            }
            let view = |&(s, a, b): &(u64, u32, u32)| {
                Config::new(Shared(s), [views.local(a), views.local(b)].into_iter().collect())
            };
            let wanted: BTreeSet<Config> = pairs.iter().map(view).collect();
            assert_eq!(views.each().collect::<BTreeSet<_>>(), wanted, "{seed}");
            assert_eq!((views.len(), views.each().count()), (wanted.len(), wanted.len()), "{seed}");
            let again = Views::of_blocks(views.blocks());
            assert_eq!(again.each().collect::<BTreeSet<_>>(), wanted, "{seed}");
            assert!(again.blocks().eq(views.blocks()), "{seed}");
        }
    }

    #[test]
    fn a_pair_that_is_there_from_one_side_only_is_seen() {
        for seed in 0..12 {
            let mut pairs = pairs(seed);
            let apart: Vec<(u64, u32, u32)> = pairs.iter().copied().filter(|p| p.1 != p.2).collect();
            let lost = apart[seed as usize * 7919 % apart.len()];
            pairs.remove(&lost);
            let views = packed(&pairs);
            let symmetric: Vec<bool> = views.groups().map(|(_, group)| group.is_symmetric()).collect();
            assert_eq!(symmetric, [0, 1, 2, 3].map(|s| s != lost.0), "{seed}");
        }
    }

    #[test]
    fn states_that_may_all_be_there_together_are_one_row() {
        let many: Vec<Local> = (0..200_000).map(Local).collect();
        let views = Views::of_singles([(Shared(0), many.clone()), (Shared(1), Vec::new())]);
        assert!(views.are_single() && views.groups().all(|(_, group)| group.is_symmetric()));
        assert_eq!(views.groups().map(|(_, group)| group.rows()).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(views.len(), 200_000 * 200_001 / 2 + 1);
        assert!(views.blocks().map(|block| block.left).eq([many, Vec::new()]));
    }
}
