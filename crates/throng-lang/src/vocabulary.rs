//! How messages name what a user can set. The library names its own methods and types; a program
//! with options of its own names those.

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
    /// Where to start.
    pub initial: &'static str,
    /// The bound on threads.
    pub threads: &'static str,
    /// Configurations that must not be reached.
    pub target: &'static str,
    /// A file of properties.
    pub prop: &'static str,
    /// Labels that no thread may reach.
    pub error_label: &'static str,
    /// Labels that no two threads may be at.
    pub mutex: &'static str,
    /// Places that at most so many threads may be at.
    pub at_most: &'static str,
    /// Threads that must not be there at once.
    pub never: &'static str,
    /// Variables that no two threads may be about to access, one to write.
    pub race: &'static str,
    /// That no two accesses to the same memory race.
    pub data_race: &'static str,
    /// That no computation overflows.
    pub overflow: &'static str,
    /// That no lock is misused.
    pub locks: &'static str,
    /// That no memory error happens.
    pub memory_safety: &'static str,
    /// Assertions beside another kind of failure.
    pub assertions: &'static str,
    /// A property file of SV-COMP.
    pub property: &'static str,
    /// Functions that any number of threads call.
    pub entry: &'static str,
    /// That waits for condition variables end with a signal only.
    pub no_spurious: &'static str,
    /// That statements are one step.
    pub whole_statements: &'static str,
    /// The memory model.
    pub memory_model: &'static str,
    /// That some thread can always move.
    pub deadlock: &'static str,
    /// Places at which no thread may be stuck.
    pub stuck: &'static str,
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
    /// To choose the portfolio of engines.
    pub auto: &'static str,
    /// To choose the engine `backward`.
    pub backward: &'static str,
    /// To choose the engine `symbolic`.
    pub symbolic: &'static str,
    /// To choose one engine.
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
        locks: "no_lock_misuse",
        memory_safety: "memory_safe",
        assertions: "assertions",
        property: "CodeQuestion::property",
        entry: "entry",
        no_spurious: "CodeQuestion::no_spurious",
        whole_statements: "CodeQuestion::whole_statements",
        memory_model: "CodeQuestion::sequential",
        deadlock: "no_deadlock",
        stuck: "never_stuck_at",
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
