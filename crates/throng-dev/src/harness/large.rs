//! Programs that have very many states, for tests of limits and checkpoints.

/// Threads count themselves when they start, then walk along `points` statements that all see each
/// other. With at most eight threads the ninth never comes, but pairs of threads do not show that.
pub fn crowd(points: usize) -> String {
    let walk = "g := !g; ".repeat(points);
    format!(
        "decl a := 0, b := 0, c := 0, d := 0, g := 0; void main() begin atomic_begin; \
         a, b, c, d := !a, b ^ a, c ^ (a & b), d ^ (a & b & c); assert(!(a & !b & !c & d)); atomic_end; {walk} end"
    )
}

/// Every thread flips its bits in any order, and all are read in the end: that many local states,
/// all different.
pub fn flippers(bits: usize) -> String {
    let names: Vec<String> = (0..bits).map(|i| format!("x{i}")).collect();
    let labels: Vec<String> = (0..bits).map(|i| format!("F{i}")).collect();
    let flips: String = (0..bits).map(|i| format!("F{i}: x{i} := !x{i}; goto N; ")).collect();
    format!(
        "decl g := 0; void main() begin decl {} := 0; \
         while * do goto {}; {flips} N: skip; od; g := {}; assert(!g | g); end",
        names.join(" := 0, "),
        labels.join(", "),
        names.join(" ^ ")
    )
}

/// A program of which each state is wider than a word, and all variables are read in the end.
pub fn wide(flipped: usize, end: &str) -> String {
    let names = |kind: &str| (0..40).map(|i| format!("{kind}{i}")).collect::<Vec<_>>();
    let (shared, locals) = (names("s"), names("x"));
    let flips: String = (0..flipped).map(|i| format!("F{i}: x{i}, s{i} := !x{i}, x{i}; goto N; ")).collect();
    let labels: Vec<String> = (0..flipped).map(|i| format!("F{i}")).collect();
    format!(
        "decl {} := 0; void main() begin decl {} := 0; while * do goto {}; {flips} N: skip; od; \
         s39 := {}; s38 := {}; {end} end",
        shared.join(" := 0, "),
        locals.join(" := 0, "),
        labels.join(", "),
        locals.join(" ^ "),
        shared.join(" ^ "),
    )
}
