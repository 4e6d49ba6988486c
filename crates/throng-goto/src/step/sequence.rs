//! Sequences whose copies share what they have in common.
//!
//! A state of a search differs in a few bytes from the one before it, and a program may have
//! megabytes of variables. So memory is a tree: a write copies a leaf and the way to it, and the
//! rest is shared. What a program never writes is stored once, however many states there are. The
//! hash is a sum over all items, so that a write changes it by what it writes.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Index, Range};
use std::sync::Arc;

use rustc_hash::FxHashSet;

/// What a sequence can hold.
pub trait Item: Clone + Eq + fmt::Debug + 'static {
    /// The item that takes no room: a part of the tree that holds no other is not there.
    const BLANK: Self;

    /// Blank items, as many as a leaf has.
    const BLANKS: &'static [Self];

    /// Returns a number that is 0 for [`Item::BLANK`], and that different items seldom share.
    fn code(&self) -> u64;

    /// Adds the bytes behind the item that were not seen before.
    fn count(&self, _: &mut Seen) {}
}

/// What was counted already, and how many bytes that was.
#[derive(Default)]
pub struct Seen {
    parts: FxHashSet<usize>,
    /// Number of bytes.
    pub bytes: usize,
}

impl Seen {
    /// Returns whether a part that may be shared is counted for the first time.
    pub fn is_new<T>(&mut self, part: &Arc<T>) -> bool {
        let new = self.parts.insert(Arc::as_ptr(part) as usize);
        if new {
            self.bytes += size_of::<T>() + 2 * size_of::<usize>();
        }
        new
    }
}

const WIDTH: usize = 8;

#[derive(Clone)]
enum Node<T, const N: usize> {
    Leaf([T; N]),
    Branch([Child<T, N>; WIDTH]),
}

/// A part of a tree; `None` is one in which every item is blank.
type Child<T, const N: usize> = Option<Arc<Node<T, N>>>;

/// A sequence of items. The tree has leaves of `N` items, and is as low as its length allows.
#[derive(Clone)]
pub struct Sequence<T, const N: usize> {
    root: Child<T, N>,
    /// The tree that the sequence was made with.
    first: Child<T, N>,
    len: usize,
    hash: u64,
}

/// What an item at a place adds to the hash.
fn mix<T: Item>(at: usize, item: &T) -> u64 {
    match item.code() {
        0 => 0,
        code => {
            let x =
                (code ^ (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (x ^ x >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)
        }
    }
}

/// Number of levels of branches above the leaves.
fn height<const N: usize>(len: usize) -> u32 {
    let (mut height, mut room) = (0, N);
    while room < len {
        (height, room) = (height + 1, room * WIDTH);
    }
    height
}

/// Number of items below a node.
fn room<const N: usize>(height: u32) -> usize {
    N * WIDTH.pow(height)
}

impl<T: Item, const N: usize> Node<T, N> {
    fn is_blank(&self) -> bool {
        match self {
            Node::Leaf(items) => items.iter().all(|i| *i == T::BLANK),
            Node::Branch(children) => children.iter().flatten().all(|c| c.is_blank()),
        }
    }

    /// Returns a tree in which every item is the same.
    fn full(height: u32, item: &T) -> Child<T, N> {
        if *item == T::BLANK {
            return None;
        }
        Some(Arc::new(match height {
            0 => Node::Leaf(std::array::from_fn(|_| item.clone())),
            _ => {
                let child = Node::full(height - 1, item);
                Node::Branch(std::array::from_fn(|_| child.clone()))
            }
        }))
    }
}

/// Returns whether two trees hold the same.
fn same<T: Item, const N: usize>(a: &Child<T, N>, b: &Child<T, N>) -> bool {
    let (a, b) = match (a, b) {
        (None, None) => return true,
        (Some(one), None) | (None, Some(one)) => return one.is_blank(),
        (Some(a), Some(b)) => (a, b),
    };
    Arc::ptr_eq(a, b)
        || match (&**a, &**b) {
            (Node::Leaf(a), Node::Leaf(b)) => a == b,
            (Node::Branch(a), Node::Branch(b)) => a.iter().zip(b).all(|(a, b)| same(a, b)),
            _ => false,
        }
}

/// Returns the children of a branch, to be changed.
fn children<T: Item, const N: usize>(node: &mut Child<T, N>) -> &mut [Child<T, N>; WIDTH] {
    let node = node.get_or_insert_with(|| Arc::new(Node::Branch(Default::default())));
    match Arc::make_mut(node) {
        Node::Branch(children) => children,
        Node::Leaf(_) => unreachable!("leaves are at the bottom"),
    }
}

/// Returns the items of a leaf, to be changed.
fn items<T: Item, const N: usize>(node: &mut Child<T, N>) -> &mut [T; N] {
    let node = node.get_or_insert_with(|| Arc::new(Node::Leaf(std::array::from_fn(|_| T::BLANK))));
    match Arc::make_mut(node) {
        Node::Leaf(items) => items,
        Node::Branch(_) => unreachable!("leaves are at the bottom"),
    }
}

/// Makes all items of a range the same. The range is counted from the start of the node.
fn fill<T: Item, const N: usize>(node: &mut Child<T, N>, height: u32, range: Range<usize>, item: &T) {
    let below = room::<N>(height);
    if range.start == 0 && range.end == below {
        *node = Node::full(height, item);
        return;
    }
    let Some(height) = height.checked_sub(1) else {
        items(node)[range].fill(item.clone());
        return;
    };
    let each = below / WIDTH;
    for (n, child) in children(node).iter_mut().enumerate() {
        let (from, to) = (range.start.max(n * each), range.end.min((n + 1) * each));
        if from < to {
            fill(child, height, from - n * each..to - n * each, item);
        }
    }
}

/// Collects the places of leaves that two trees do not share.
fn unshared<T: Item, const N: usize>(
    a: &Child<T, N>,
    b: &Child<T, N>,
    height: u32,
    at: usize,
    found: &mut Vec<Range<usize>>,
) {
    let Some(one) = a else { return };
    if b.as_ref().is_some_and(|b| Arc::ptr_eq(one, b)) {
        return;
    }
    match &**one {
        Node::Leaf(_) => match found.last_mut() {
            Some(last) if last.end == at => last.end += N,
            _ => found.push(at..at + N),
        },
        Node::Branch(children) => {
            let each = room::<N>(height - 1);
            for (n, child) in children.iter().enumerate() {
                let other = match b.as_deref() {
                    Some(Node::Branch(others)) => &others[n],
                    _ => &None,
                };
                unshared(child, other, height - 1, at + n * each, found);
            }
        }
    }
}

fn count<T: Item, const N: usize>(node: &Child<T, N>, seen: &mut Seen) {
    let Some(node) = node.as_ref().filter(|node| seen.is_new(node)) else { return };
    match &**node {
        Node::Leaf(items) => items.iter().for_each(|item| item.count(seen)),
        Node::Branch(children) => children.iter().for_each(|child| count(child, seen)),
    }
}

impl<T: Item, const N: usize> Sequence<T, N> {
    /// Returns a sequence of blank items.
    pub const fn blank(len: usize) -> Self {
        Sequence { root: None, first: None, len, hash: 0 }
    }

    /// Returns a sequence in which all items are the same.
    pub fn filled(len: usize, item: &T) -> Self {
        let mut all = Self::blank(len);
        all.fill(0..len, item);
        all.first = all.root.clone();
        all
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the leaf in which a place is.
    fn leaf(&self, at: usize) -> &[T] {
        let (mut node, mut below) = (self.root.as_deref(), room::<N>(height::<N>(self.len)));
        loop {
            match node {
                None => return T::BLANKS,
                Some(Node::Leaf(items)) => return items,
                Some(Node::Branch(children)) => {
                    below /= WIDTH;
                    node = children[at / below % WIDTH].as_deref();
                }
            }
        }
    }

    /// Returns the leaf in which a place is, to be changed.
    fn leaf_mut(&mut self, at: usize) -> &mut [T; N] {
        let (mut node, mut below) = (&mut self.root, room::<N>(height::<N>(self.len)));
        while below > N {
            below /= WIDTH;
            node = &mut children(node)[at / below % WIDTH];
        }
        items(node)
    }

    /// Returns an item.
    pub fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| &self.leaf(at)[at % N])
    }

    /// Returns a part of the sequence.
    pub fn range(&self, range: Range<usize>) -> Option<Cow<'_, [T]>> {
        if range.start > range.end || range.end > self.len {
            return None;
        }
        if range.is_empty() {
            return Some(Cow::Borrowed(&[]));
        }
        let from = range.start % N;
        Some(match from + range.len() <= N {
            true => Cow::Borrowed(&self.leaf(range.start)[from..from + range.len()]),
            false => Cow::Owned(self.pieces(range).flatten().cloned().collect()),
        })
    }

    /// Returns the leaves of a range, as far as they belong to it.
    fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = &[T]> {
        let starts = (range.start / N * N..range.end).step_by(N);
        starts.map(move |leaf| {
            let (from, to) = (range.start.max(leaf) - leaf, range.end.min(leaf + N) - leaf);
            &self.leaf(leaf)[from..to]
        })
    }

    /// Returns all items.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces(0..self.len).flatten()
    }

    /// Returns all items of a range. It lies within the sequence.
    pub fn iter_in(&self, range: Range<usize>) -> impl Iterator<Item = &T> {
        self.pieces(range.start.min(self.len)..range.end.min(self.len)).flatten()
    }

    /// Writes items, from a place on. They lie within the sequence.
    pub fn write(&mut self, mut at: usize, mut new: &[T]) {
        while !new.is_empty() {
            let from = at % N;
            let here = new.len().min(N - from);
            let (now, later) = new.split_at(here);
            let old = &self.leaf(at)[from..from + here];
            if old != now {
                let changed = old
                    .iter()
                    .zip(now)
                    .enumerate()
                    .map(|(n, (old, new))| mix(at + n, new).wrapping_sub(mix(at + n, old)));
                let difference = changed.fold(0, u64::wrapping_add);
                self.hash = self.hash.wrapping_add(difference);
                self.leaf_mut(at)[from..from + here].clone_from_slice(now);
            }
            (at, new) = (at + here, later);
        }
    }

    /// Changes an item, if it is there.
    pub fn update(&mut self, at: usize, change: impl FnOnce(&mut T)) {
        let Some(old) = self.get(at).map(|old| mix(at, old)) else { return };
        let item = &mut self.leaf_mut(at)[at % N];
        change(item);
        let new = mix(at, item);
        self.hash = self.hash.wrapping_add(new.wrapping_sub(old));
    }

    /// Makes all items of a range the same. It lies within the sequence.
    pub fn fill(&mut self, range: Range<usize>, item: &T) {
        if self.iter_in(range.clone()).all(|old| old == item) {
            return;
        }
        let sum = |(n, old): (usize, &T)| mix(range.start + n, item).wrapping_sub(mix(range.start + n, old));
        let difference = self.iter_in(range.clone()).enumerate().map(sum).fold(0, u64::wrapping_add);
        self.hash = self.hash.wrapping_add(difference);
        fill(&mut self.root, height::<N>(self.len), range, item);
    }

    /// Makes the sequence longer, with so many of an item, or shorter.
    pub fn resize(&mut self, len: usize, item: &T) {
        if len < self.len {
            self.fill(len..self.len, &T::BLANK);
            for _ in height::<N>(len)..height::<N>(self.len) {
                let child = self.root.as_deref().and_then(|root| match root {
                    Node::Branch(children) => children[0].clone(),
                    Node::Leaf(_) => None,
                });
                self.root = child;
            }
            (self.len, self.first) = (len, None);
        } else if len > self.len {
            for _ in height::<N>(self.len)..height::<N>(len) {
                if let Some(root) = self.root.take() {
                    self.root = Some(Arc::new(Node::Branch(std::array::from_fn(|n| match n {
                        0 => Some(root.clone()),
                        _ => None,
                    }))));
                }
            }
            let old = self.len;
            (self.len, self.first) = (len, None);
            self.fill(old..len, item);
        }
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        let at = self.len;
        self.resize(at + 1, &T::BLANK);
        self.write(at, std::slice::from_ref(&item));
    }

    /// Returns ranges that hold everything that was written since the sequence was made, blank
    /// items apart. Their ends may lie behind the end of the sequence.
    pub fn written(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        unshared(&self.root, &self.first, height::<N>(self.len), 0, &mut found);
        found
    }

    /// Adds the bytes of the tree that were not seen before.
    pub fn count(&self, seen: &mut Seen) {
        count(&self.root, seen);
    }
}

impl<T: Item, const N: usize> From<Vec<T>> for Sequence<T, N> {
    fn from(items: Vec<T>) -> Self {
        let mut all = Self::blank(items.len());
        all.write(0, &items);
        all.first = all.root.clone();
        all
    }
}

impl<T: Item, const N: usize> FromIterator<T> for Sequence<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::from(items.into_iter().collect::<Vec<T>>())
    }
}

impl<T: Item, const N: usize> Index<usize> for Sequence<T, N> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        assert!(at < self.len, "item {at} of {}", self.len);
        &self.leaf(at)[at % N]
    }
}

impl<T: Item, const N: usize> PartialEq for Sequence<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.hash == other.hash && same(&self.root, &other.root)
    }
}

impl<T: Item, const N: usize> Eq for Sequence<T, N> {}

impl<T: Item, const N: usize> Hash for Sequence<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash ^ self.len as u64);
    }
}

impl<T: Item, const N: usize> fmt::Debug for Sequence<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Item for u8 {
        const BLANK: u8 = 0;
        const BLANKS: &'static [u8] = &[0; 4];

        fn code(&self) -> u64 {
            u64::from(*self)
        }
    }

    type Small = Sequence<u8, 4>;

    /// The hash depends on the items alone, however they came there.
    fn check(sequence: &Small, model: &[u8]) {
        assert_eq!(sequence.iter().copied().collect::<Vec<_>>(), model);
        let fresh = Small::from(model.to_vec());
        assert_eq!(*sequence, fresh);
        assert_eq!(sequence.hash, fresh.hash);
        for at in 0..model.len() {
            assert_eq!(sequence.get(at), Some(&model[at]));
            let to = (at + 6).min(model.len());
            assert_eq!(sequence.range(at..to).as_deref(), Some(&model[at..to]));
        }
        assert_eq!(sequence.get(model.len()), None);
        assert_eq!(sequence.range(0..model.len() + 1), None);
    }

    #[test]
    fn it_does_what_a_vector_does() {
        let mut random = 1u64;
        let mut next = |n: usize| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) as usize % n
        };
        let (mut sequence, mut model) = (Small::blank(0), Vec::new());
        for _ in 0..3000 {
            let item = next(3) as u8;
            match next(5) {
                0 => {
                    let len = next(150);
                    sequence.resize(len, &item);
                    model.resize(len, item);
                }
                1 => {
                    sequence.push(item);
                    model.push(item);
                }
                kind if !model.is_empty() => {
                    let from = next(model.len());
                    let to = from + next(model.len() - from + 1);
                    match kind {
                        2 => {
                            sequence.fill(from..to, &item);
                            model[from..to].fill(item);
                        }
                        3 => {
                            let new: Vec<u8> = (from..to).map(|_| next(3) as u8).collect();
                            sequence.write(from, &new);
                            model[from..to].copy_from_slice(&new);
                        }
                        _ => {
                            sequence.update(from, |old| *old = 7);
                            model[from] = 7;
                        }
                    }
                }
                _ => {}
            }
            check(&sequence, &model);
        }
    }

    #[test]
    fn different_items_are_different() {
        let one = Small::from((0..200).collect::<Vec<u8>>());
        let mut other = one.clone();
        other.write(77, &[0]);
        assert_ne!(one, other);
        assert_ne!(one.hash, other.hash);
        other.write(77, &[77]);
        assert_eq!(one, other);
        assert_ne!(Small::blank(3), Small::blank(4));
    }

    #[test]
    fn copies_share_what_was_not_written() {
        let one = Small::from(vec![1; 10_000]);
        let mut seen = Seen::default();
        one.count(&mut seen);
        let whole = seen.bytes;
        let mut other = one.clone();
        other.write(5_000, &[2, 3]);
        other.count(&mut seen);
        assert!(whole > 10_000 && seen.bytes - whole < 700, "{whole}, then {}", seen.bytes);
        assert_eq!(other.written(), vec![5_000..5_004]);
        assert!(one.written().is_empty());
        // The same again is no write.
        let again = other.clone();
        other.write(5_000, &[2, 3]);
        other.fill(5_000..5_001, &2);
        again.count(&mut seen);
        let before = seen.bytes;
        other.count(&mut seen);
        assert_eq!(seen.bytes, before);
        // Blank items take no room.
        let mut seen = Seen::default();
        Small::blank(1 << 20).count(&mut seen);
        assert_eq!(seen.bytes, 0);
        Small::filled(1 << 20, &1).count(&mut seen);
        assert!(seen.bytes < 1_000, "{}", seen.bytes);
    }
}
