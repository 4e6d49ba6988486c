//! A symmetric relation of local states that may occur together with one shared state, 64 pairs at
//! a time.
//!
//! 64 local states with neighbouring numbers are a block: a table of words, with a row for each of
//! those that occur and a column for each 64 others among which one of them has a partner. Rows
//! take memory according to their content, and those of two shared states are combined column by
//! column, without look-ups.

/// A set of numbers: places, sorted, and the members among the 64 numbers of each; no word is 0.
pub type Set = Vec<(u32, u64)>;

/// The tag of a row for which its owner has no number.
pub const NONE: u32 = u32::MAX;

/// A symmetric relation.
#[derive(Default)]
pub struct Relation {
    /// Sorted by place.
    blocks: Vec<Block>,
    /// The number of rows.
    rows: u64,
    /// True if some row may wait, and the position from which to search for it.
    waiting: bool,
    cursor: usize,
    /// The number of pairs, counted from both sides, and of those of a state with itself.
    ones: u64,
    twins: u64,
}

#[derive(Default)]
struct Block {
    place: u32,
    /// The rows that exist.
    here: u64,
    /// The changed rows, for two consumers: see [`Relation::pop_waiting`] and
    /// [`Relation::take_changed`].
    waiting: u64,
    changed: u64,
    /// The columns, sorted, and their words: for each column, one word for each row, in order.
    columns: Vec<u32>,
    words: Vec<u64>,
    /// For each row, two numbers of its owner.
    tags: Vec<[u32; 2]>,
}

fn bit(n: u32) -> u64 {
    1 << (n % 64)
}

/// Returns the members of a word.
pub fn members(word: u64) -> impl Iterator<Item = u32> {
    let next = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
    std::iter::successors(Some(word).filter(|&word| word != 0), next).map(u64::trailing_zeros)
}

/// Returns the members of a set, in order.
pub fn each(set: &Set) -> impl Iterator<Item = u32> + '_ {
    set.iter().flat_map(|&(place, word)| members(word).map(move |n| place * 64 + n))
}

/// Returns the set of these numbers.
pub fn set_of(numbers: impl IntoIterator<Item = u32>) -> Set {
    merged(numbers.into_iter().map(|n| (n / 64, bit(n))).collect())
}

/// Returns the union of words, in any order.
pub fn merged(mut words: Set) -> Set {
    words.sort_unstable_by_key(|e| e.0);
    words.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 |= if same { next.1 } else { 0 };
        same
    });
    words
}

/// Returns the set of the words that `keep` makes of each word of the first set and the
/// corresponding word of the second.
fn combined(a: &Set, b: &Set, keep: impl Fn(u64, u64) -> u64) -> Set {
    let mut theirs = b.iter().peekable();
    let word = |&(place, word): &(u32, u64)| {
        while theirs.next_if(|e| e.0 < place).is_some() {}
        let left = keep(word, theirs.next_if(|e| e.0 == place).map_or(0, |e| e.1));
        (left != 0).then_some((place, left))
    };
    a.iter().filter_map(word).collect()
}

/// Returns the intersection.
pub fn and(a: &Set, b: &Set) -> Set {
    combined(a, b, |a, b| a & b)
}

/// Returns the difference.
pub fn minus(a: &Set, b: &Set) -> Set {
    combined(a, b, |a, b| a & !b)
}

/// Returns whether all members of `a` are members of `b`.
pub fn is_within(a: &Set, b: &Set) -> bool {
    let mut theirs = b.iter();
    a.len() <= b.len()
        && a.iter().all(|&(place, word)| {
            theirs.find(|e| e.0 >= place).is_some_and(|e| e.0 == place && word & !e.1 == 0)
        })
}

/// Returns whether `n` is a member.
pub fn contains(set: &Set, n: u32) -> bool {
    set.binary_search_by_key(&(n / 64), |e| e.0).is_ok_and(|i| set[i].1 & bit(n) != 0)
}

impl Block {
    fn height(&self) -> usize {
        self.here.count_ones() as usize
    }

    /// Returns the position of a row among the existing ones.
    fn rank(&self, row: u32) -> usize {
        (self.here & (bit(row) - 1)).count_ones() as usize
    }

    /// Returns the nonzero words of a row, given its rank.
    fn row(&self, rank: usize) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
        let words = self.words.iter().skip(rank).step_by(self.height());
        self.columns.iter().copied().zip(words.copied()).filter(|e| e.1 != 0)
    }

    fn touch(&mut self, rows: u64) {
        self.waiting |= rows;
        self.changed |= rows;
    }

    /// Adds a row without partners.
    fn insert(&mut self, row: u32) {
        let (rank, height) = (self.rank(row), self.height());
        let mut words = Vec::with_capacity((height + 1) * self.columns.len());
        for column in self.words.chunks_exact(height.max(1)) {
            words.extend_from_slice(&column[..rank]);
            words.push(0);
            words.extend_from_slice(&column[rank..]);
        }
        self.words = words;
        self.tags.insert(rank, [NONE; 2]);
        self.here |= bit(row);
        self.touch(bit(row));
    }

    /// Returns the column of a place, which is added if necessary; the search starts at `from`.
    fn column(&mut self, from: usize, place: u32) -> usize {
        let before = self.columns[from..].partition_point(|&p| p < place) + from;
        if self.columns.get(before) != Some(&place) {
            let height = self.height();
            self.columns.insert(before, place);
            let at = before * height;
            self.words.splice(at..at, std::iter::repeat_n(0, height));
        }
        before
    }
}

impl Relation {
    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        (self.ones + self.twins) / 2
    }

    fn find(&self, place: u32) -> Result<usize, usize> {
        self.blocks.binary_search_by_key(&place, |block| block.place)
    }

    fn block(&self, a: u32) -> Option<&Block> {
        let block = &self.blocks[self.find(a / 64).ok()?];
        (block.here & bit(a) != 0).then_some(block)
    }

    /// Returns whether `a` occurs.
    pub fn has(&self, a: u32) -> bool {
        self.block(a).is_some()
    }

    /// Returns all local states that occur.
    pub fn all(&self) -> Set {
        self.blocks.iter().map(|block| (block.place, block.here)).collect()
    }

    /// Returns the number of local states that occur.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Returns the numbers that the owner gave to `a`.
    pub fn tags(&self, a: u32) -> [u32; 2] {
        self.block(a).map_or([NONE; 2], |block| block.tags[block.rank(a)])
    }

    /// Sets the owner's numbers of `a`, which occurs.
    pub fn tag(&mut self, a: u32, tags: [u32; 2]) {
        if let Ok(i) = self.find(a / 64) {
            let rank = self.blocks[i].rank(a);
            self.blocks[i].tags[rank] = tags;
        }
    }

    /// Returns whether `a` and `b` may occur together.
    pub fn pair(&self, a: u32, b: u32) -> bool {
        let Some(block) = self.block(a) else { return false };
        let column = block.columns.binary_search(&(b / 64));
        column.is_ok_and(|c| block.words[c * block.height() + block.rank(a)] & bit(b) != 0)
    }

    /// Returns the local states that may occur with `a`.
    pub fn row(&self, a: u32) -> Set {
        let Some(block) = self.block(a) else { return Set::new() };
        block.row(block.rank(a)).collect()
    }

    /// Returns every row, in order.
    pub fn rows(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = (u32, u64)> + Clone + '_)> + '_ {
        let rows = |block: &Block| members(block.here).enumerate();
        self.blocks
            .iter()
            .flat_map(move |block| rows(block).map(|(rank, row)| (block.place * 64 + row, block.row(rank))))
    }

    /// Returns the local states that may occur with one of `some`, and these.
    pub fn around(&self, some: &Set) -> Set {
        let mut found = some.clone();
        for &(place, rows) in some {
            let Ok(i) = self.find(place) else { continue };
            let block = &self.blocks[i];
            let ranks: Vec<usize> = members(rows & block.here).map(|row| block.rank(row)).collect();
            for (&place, column) in block.columns.iter().zip(block.words.chunks_exact(block.height().max(1)))
            {
                let word = ranks.iter().fold(0, |word, &rank| word | column[rank]);
                if word != 0 {
                    found.push((place, word));
                }
            }
        }
        merged(found)
    }

    /// Adds `a`. Returns whether it is new.
    pub fn insert(&mut self, a: u32) -> bool {
        let i = self.find(a / 64).unwrap_or_else(|i| {
            self.blocks.insert(i, Block { place: a / 64, ..Block::default() });
            i
        });
        let new = self.blocks[i].here & bit(a) == 0;
        if new {
            self.blocks[i].insert(a);
            self.rows += 1;
            self.waiting = true;
        }
        new
    }

    /// Adds each of these.
    pub fn insert_all(&mut self, set: &Set) {
        let mut from = 0;
        for &(place, word) in set {
            from += self.blocks[from..].partition_point(|block| block.place < place);
            let here =
                self.blocks.get(from).filter(|block| block.place == place).map_or(0, |block| block.here);
            members(word & !here).for_each(|n| _ = self.insert(place * 64 + n));
        }
    }

    /// Adds the pairs of `a` with each of `others`. Returns the number of new pairs.
    pub fn meet(&mut self, a: u32, others: &Set) -> u64 {
        self.insert(a);
        let Ok(i) = self.find(a / 64) else { return 0 };
        let block = &mut self.blocks[i];
        let (rank, height, mut c) = (block.rank(a), block.height(), 0);
        let mut new = Set::new();
        for &(place, word) in others {
            c = block.column(c, place);
            let known = &mut block.words[c * height + rank];
            let more = word & !*known;
            if more != 0 {
                *known |= more;
                new.push((place, more));
            }
        }
        if new.is_empty() {
            return 0;
        }
        block.touch(bit(a));
        self.waiting = true;
        self.insert_all(&new);
        let found: u64 = new.iter().map(|e| u64::from(e.1.count_ones())).sum();
        let twin = contains(&new, a);
        self.twins += u64::from(twin);
        self.ones += 2 * found - u64::from(twin);
        for (place, word) in new {
            let Ok(i) = self.find(place) else { continue };
            let block = &mut self.blocks[i];
            let (c, height) = (block.column(0, a / 64), block.height());
            for row in members(word) {
                let rank = block.rank(row);
                block.words[c * height + rank] |= bit(a);
            }
            block.touch(word);
        }
        found
    }

    /// Adds the pairs of `source` between `rows` and `within`, and each of `rows`, to this
    /// relation. Returns the number of words processed.
    pub fn copy(&mut self, source: &Relation, rows: &Set, within: &Set) -> u64 {
        self.insert_all(rows);
        let mut work = 0;
        for &(place, rows) in rows {
            let (Ok(from), Ok(to)) = (source.find(place), self.find(place)) else { continue };
            let (from, to) = (&source.blocks[from], &mut self.blocks[to]);
            let mut ranks = [(0_u8, 0_u8, 0_u8); 64];
            let mut count = 0;
            for row in members(rows) {
                ranks[count] = (from.rank(row) as u8, to.rank(row) as u8, row as u8);
                count += 1;
            }
            let ranks = &ranks[..count];
            let (mut allowed, mut c, mut changed) = (within.iter(), 0, 0);
            let (from_height, height) = (from.height(), to.height());
            let mut next = allowed.next();
            for (&column, words) in from.columns.iter().zip(from.words.chunks_exact(from_height.max(1))) {
                while next.is_some_and(|e| e.0 < column) {
                    next = allowed.next();
                }
                let Some(&(_, mask)) = next.filter(|e| e.0 == column) else { continue };
                work += count as u64;
                if !ranks.iter().any(|r| words[r.0 as usize] & mask != 0) {
                    continue;
                }
                c = to.column(c, column);
                let known = &mut to.words[c * height..(c + 1) * height];
                for &(here, there, row) in ranks {
                    let known = &mut known[there as usize];
                    let new = words[here as usize] & mask & !*known;
                    if new != 0 {
                        *known |= new;
                        changed |= bit(row.into());
                        self.ones += u64::from(new.count_ones());
                        self.twins += u64::from(column == place && new & bit(row.into()) != 0);
                    }
                }
            }
            to.touch(changed);
            self.waiting |= changed != 0;
        }
        work
    }

    /// Removes and returns some row that is new or has changed since this method last returned it.
    pub fn pop_waiting(&mut self) -> Option<u32> {
        if !self.waiting {
            return None;
        }
        let (start, end) = self.blocks.split_at(self.cursor.min(self.blocks.len()));
        let found = end.iter().position(|block| block.waiting != 0).map(|i| i + start.len());
        let Some(found) = found.or_else(|| start.iter().position(|block| block.waiting != 0)) else {
            self.waiting = false;
            return None;
        };
        self.cursor = found;
        let block = &mut self.blocks[self.cursor];
        let row = block.waiting.trailing_zeros();
        block.waiting &= block.waiting - 1;
        Some(block.place * 64 + row)
    }

    /// Returns whether some row may wait.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Returns the rows that are new or have changed since the last call.
    pub fn take_changed(&mut self) -> Set {
        let changed = self.blocks.iter_mut().map(|block| (block.place, std::mem::take(&mut block.changed)));
        changed.filter(|e| e.1 != 0).collect()
    }
}
