//! `throng translate`

use super::TranslateArgs;
use super::console::{Console, Failure};

pub(super) fn run(_: &TranslateArgs, _: &Console) -> Result<u8, Failure> {
    Err(Failure::Other("not yet".into()))
}
