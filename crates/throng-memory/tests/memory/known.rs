//! Programs whose answers are known.

use throng_memory::Order::{self, AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
use throng_memory::litmus::Instruction::{self, Fence, Load, Replace, Store, Wait};
use throng_memory::litmus::Litmus;

fn program(threads: &[&[Instruction]]) -> Litmus {
    Litmus { threads: threads.iter().map(|code| code.to_vec()).collect(), values: 3 }
}

fn store_buffering(fence: Order) -> Litmus {
    program(&[
        &[Store(0, 1, Release), Fence(fence), Load(1, Acquire)],
        &[Store(1, 1, Release), Fence(fence), Load(0, Acquire)],
    ])
}

fn message(write: Order, read: Order) -> Litmus {
    program(&[&[Store(0, 1, Plain), Store(1, 1, write)], &[Wait(1, 1, read), Load(0, Plain)]])
}

/// A lock around a plain counter.
fn lock(take: Order, release: Order) -> Litmus {
    let section = [Replace(0, 0, 1, take), Load(1, Plain), Store(1, 1, Plain), Store(0, 0, release)];
    program(&[&section, &section])
}

/// Name, program, and whether it is robust and free of races.
pub fn programs() -> Vec<(&'static str, Litmus, bool)> {
    vec![
        ("store buffering", store_buffering(AcqRel), false),
        ("store buffering with fences", store_buffering(SeqCst), true),
        (
            "store buffering, sequentially consistent",
            program(&[&[Store(0, 1, SeqCst), Load(1, SeqCst)], &[Store(1, 1, SeqCst), Load(0, SeqCst)]]),
            true,
        ),
        ("message passing", message(Release, Acquire), true),
        ("message passing, relaxed write", message(Relaxed, Acquire), false),
        ("message passing, relaxed read", message(Release, Relaxed), false),
        ("lock", lock(Acquire, Release), true),
        ("lock, released relaxed", lock(Acquire, Relaxed), false),
        ("lock, taken relaxed", lock(Relaxed, Release), false),
        (
            "a reader-writer race",
            program(&[&[Load(0, Plain), Store(1, 1, Relaxed)], &[Wait(1, 1, Acquire), Store(0, 1, Plain)]]),
            false,
        ),
        (
            // Allowed by RC11: fences are not ordered through a thread that has none. A monitor that
            // takes fences for read-modify-writes of one location misses it.
            "two fences and a relaxed thread between them",
            program(&[
                &[Store(0, 1, Relaxed), Fence(SeqCst), Store(1, 1, Relaxed)],
                &[Wait(1, 1, Relaxed), Store(2, 1, Relaxed)],
                &[Wait(2, 1, Relaxed), Fence(SeqCst), Load(0, Relaxed)],
            ]),
            false,
        ),
    ]
}
