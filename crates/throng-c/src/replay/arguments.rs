//! The arguments with which a replay calls `main`.

use std::fmt::Write as _;

use crate::lower::arguments::{BYTES, MOST, number_of};
use throng_goto::program::{Instr, Program, offset_of};
use throng_goto::run::Run;
use throng_goto::step::Event;

/// Returns the declarations of the list of arguments, with the bytes that the run found in them.
/// There are as many as `main` gets, and null behind them.
pub(super) fn written(program: &Program, run: &Run, count: i64) -> String {
    let mut strings = vec![[0u8; BYTES as usize]; MOST as usize];
    let events = run.moves.iter().flat_map(|(_, outcome)| &outcome.events);
    for event in events.chain(run.racing.iter().flat_map(|r| &r.events)) {
        let Event::Found { at, address, value } = event else { continue };
        let Some(object) = program.object_at(*address) else { continue };
        let (Some(n), Instr::Load(_, _, of)) = (number_of(&object.name), program.instruction_at(*at)) else {
            continue;
        };
        let offset = offset_of(*address) as usize;
        for (k, byte) in value.to_le_bytes().iter().take(of.size.into()).enumerate() {
            if let Some(place) = strings.get_mut(n).and_then(|s| s.get_mut(offset + k)) {
                *place = *byte;
            }
        }
    }
    let mut out = format!("  static char strings[{MOST}][{BYTES}] = {{ ");
    for string in &strings {
        let bytes: Vec<String> = string.iter().map(u8::to_string).collect();
        _ = write!(out, "{{ {} }}, ", bytes.join(", "));
    }
    out += "};\n  static char *arguments[] = { ";
    for n in 0..=MOST {
        _ = if n < count { write!(out, "strings[{n}], ") } else { write!(out, "0, ") };
    }
    out + "};\n"
}
