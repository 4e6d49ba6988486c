//! What stands for the crate `throng` in tests that are compiled to be read: the same words, and
//! nothing is asked. The crate itself is only checked then, without code that others could call.

#![allow(missing_docs)]

#[macro_export]
macro_rules! __rust_check {
    ($($role:ident : $function:expr),+ $(,)?) => {
        $crate::rust::Check$(.$role(&$function))+
    };
}

pub mod rust {
    pub use crate::__rust_check as check;
    use std::time::Duration;

    #[must_use = "nothing is checked before `run`"]
    pub struct Check;

    impl Check {
        pub fn any<F>(self, _: &F) -> Check {
            self
        }
        pub fn one<F>(self, _: &F) -> Check {
            self
        }
        pub fn setup<F>(self, _: &F) -> Check {
            self
        }
        pub fn race(self) -> Check {
            self
        }
        pub fn deadlock(self) -> Check {
            self
        }
        pub fn memory_safe(self) -> Check {
            self
        }
        pub fn sequentially_consistent(self) -> Check {
            self
        }
        pub fn threads(self, _: u32) -> Check {
            self
        }
        pub fn or_bounded(self, _: u32) -> Check {
            self
        }
        pub fn timeout(self, _: Duration) -> Check {
            self
        }
        pub fn cargo_arguments<'a>(self, _: impl IntoIterator<Item = &'a str>) -> Check {
            self
        }
        pub fn run(self) {}
    }
}
