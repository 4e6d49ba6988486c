//! The names of settings in messages. The library uses its own methods and types; a program with
//! options of its own uses those.

/// The names that messages use. The default is [`Vocabulary::LIBRARY`].
///
/// ```
/// use throng_lang::vocabulary::Vocabulary;
/// static MINE: Vocabulary = Vocabulary { threads: "the field `threads`", ..Vocabulary::LIBRARY };
/// let question = throng_lang::question::Question { vocabulary: &MINE, ..Default::default() };
/// assert_eq!(question.vocabulary.mutex, "never_two_at");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vocabulary {
    /// The initial configuration.
    pub initial: &'static str,
    /// The bound on threads.
    pub threads: &'static str,
    /// Configurations that must not be reached.
    pub target: &'static str,
    /// A file of properties.
    pub prop: &'static str,
    /// Labels that no thread may reach.
    pub error_label: &'static str,
    /// Places at which no two threads may be.
    pub mutex: &'static str,
    /// Places with a maximum number of threads.
    pub at_most: &'static str,
    /// Combinations of threads that must not occur.
    pub never: &'static str,
    /// Variables that must have no data race.
    pub race: &'static str,
    /// Freedom from races on the same memory.
    pub data_race: &'static str,
    /// Freedom from overflow.
    pub overflow: &'static str,
    /// What is known already of possible races.
    pub baseline: &'static str,
    /// Correct use of locks.
    pub locks: &'static str,
    /// Freedom from memory errors.
    pub memory_safety: &'static str,
    /// Assertions in addition to another property.
    pub assertions: &'static str,
    /// A property file of SV-COMP.
    pub property: &'static str,
    /// Files about functions that are neither defined nor known.
    pub library: &'static str,
    /// Functions called by any number of threads.
    pub entry: &'static str,
    /// A function that runs before any other.
    pub setup: &'static str,
    /// Functions called by one thread each.
    pub one: &'static str,
    /// The exclusion of spurious wake-ups.
    pub no_spurious: &'static str,
    /// The treatment of statements as one step.
    pub whole_statements: &'static str,
    /// The treatment of `volatile` as atomic.
    pub volatile_atomic: &'static str,
    /// The memory model.
    pub memory_model: &'static str,
    /// Freedom from deadlock.
    pub deadlock: &'static str,
    /// Places at which no thread may be stuck.
    pub stuck: &'static str,
    /// Places that every thread leaves under a fair scheduler.
    pub starvation: &'static str,
    /// Expressions that must hold.
    pub invariant: &'static str,
    /// The format of an input.
    pub from: &'static str,
    /// Variables of nets that start with any number of tokens.
    pub init_free: &'static str,
    /// The limit on time.
    pub timeout: &'static str,
    /// The limit on memory.
    pub memory: &'static str,
    /// The number of threads after which a search without a bound gives up.
    pub max_threads: &'static str,
    /// The choice of the portfolio of engines.
    pub auto: &'static str,
    /// The choice of the engine `backward`.
    pub backward: &'static str,
    /// The choice of the engine `symbolic`.
    pub symbolic: &'static str,
    /// The choice of one engine.
    pub engine: &'static str,
}

impl Vocabulary {
    /// The names of the library.
    pub const LIBRARY: Vocabulary = Vocabulary {
        initial: "start",
        threads: "threads",
        target: "never",
        prop: "Question::prop",
        error_label: "never_at",
        mutex: "never_two_at",
        at_most: "at_most",
        never: "never_together",
        race: "no_race",
        data_race: "no_data_race",
        overflow: "no_overflow",
        baseline: "Job::baseline",
        locks: "no_lock_misuse",
        memory_safety: "memory_safe",
        assertions: "assertions",
        property: "CodeQuestion::property",
        library: "Compiling::library",
        entry: "entry",
        setup: "setup",
        one: "one",
        no_spurious: "CodeQuestion::no_spurious",
        whole_statements: "CodeQuestion::whole_statements",
        volatile_atomic: "CodeQuestion::volatile_atomic",
        memory_model: "CodeQuestion::memory_model",
        deadlock: "no_deadlock",
        stuck: "never_stuck_at",
        starvation: "leaves",
        invariant: "always",
        from: "Reading::from",
        init_free: "Reading::init_free",
        timeout: "Limits::timeout",
        memory: "Limits::memory",
        max_threads: "Settings::max_threads",
        auto: "Engine::Auto",
        backward: "Engine::Backward",
        symbolic: "Engine::Symbolic",
        engine: "an Engine other than Auto",
    };
}

static LIBRARY: Vocabulary = Vocabulary::LIBRARY;

impl Default for &'static Vocabulary {
    fn default() -> &'static Vocabulary {
        &LIBRARY
    }
}
