//! Prints the goto program of a C file.
#![allow(clippy::print_stdout)]

use throng_c::{Options, load};
use throng_lang::source::render;

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    match load(path.as_ref(), &Options::default()) {
        Ok(loaded) => {
            print!("{}", loaded.query.program.print());
            loaded.query.notes.iter().for_each(|n| println!("note: {n}"));
        }
        Err(why) => why.diagnostics.iter().for_each(|d| println!("{}\n", render(d, &why.source, false))),
    }
}
