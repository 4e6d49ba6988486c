//! How messages name options.

use throng_lang::vocabulary::Vocabulary;

/// The options of the command line.
pub static OPTIONS: Vocabulary = Vocabulary {
    initial: "--initial",
    threads: "--threads",
    target: "--target",
    prop: "--prop",
    error_label: "--error-label",
    mutex: "--mutex",
    at_most: "--at-most",
    never: "--never",
    race: "--race",
    data_race: "--race",
    overflow: "--overflow",
    locks: "--locks",
    memory_safety: "--memory-safety",
    assertions: "--assertions",
    property: "--property",
    library: "--library",
    entry: "--entry",
    no_spurious: "--no-spurious",
    whole_statements: "--whole-statements",
    memory_model: "--memory-model",
    deadlock: "--deadlock",
    stuck: "--stuck",
    invariant: "--invariant",
    from: "--from",
    init_free: "--init-free",
    timeout: "--timeout",
    memory: "--memory",
    max_threads: "--max-threads",
    auto: "leave out --engine",
    backward: "--engine backward",
    symbolic: "--engine symbolic",
    engine: "--engine NAME",
};
