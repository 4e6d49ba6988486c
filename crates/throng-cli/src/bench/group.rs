//! A process with its descendants, to be stopped together: none outlives the benchmark, however
//! that ends.
//!
//! The leader of the group is a guard, a shell that waits for the end of its input. No other
//! process has the writing end of that pipe, so it ends with this process, also if this process is
//! killed; the guard then kills the group. The guard is there before the process that is measured,
//! which is in the group from its first instruction on: there is no moment in which it could be
//! left behind. Who leaves the group is not found.

use std::io;
use std::process::{Child, Command};
#[cfg(unix)]
use std::{os::unix::process::CommandExt, process::Stdio};

#[cfg(unix)]
use nix::sys::signal::{Signal, killpg};

/// Processes that end together. They are killed when it is dropped.
pub(super) struct Group {
    #[cfg(unix)]
    guard: Child,
}

/// The command of the guard, which survives when the group is asked to stop.
#[cfg(unix)]
const GUARD: &str = "trap '' INT; read -r nothing; kill -KILL 0";

#[cfg(unix)]
impl Group {
    /// Creates a group that has only its guard.
    pub(super) fn new() -> io::Result<Group> {
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C on the terminal reaches only us.
        Ok(Group { guard: guard.process_group(0).spawn()? })
    }

    /// Lets a command begin in this group.
    pub(super) fn admit(&self, command: &mut Command) {
        command.process_group(self.guard.id() as i32);
    }

    /// As Ctrl-C does: this program then prints what it has established.
    pub(super) fn ask_to_stop(&self, _: &mut Child) {
        self.signal(Signal::SIGINT);
    }

    /// Kills all processes of the group.
    pub(super) fn end(&self, _: &mut Child) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(&self, signal: Signal) {
        let _ = killpg(nix::unistd::Pid::from_raw(self.guard.id() as i32), signal);
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.guard.wait();
    }
}

/// Stops only the process itself where there are no process groups.
#[cfg(not(unix))]
impl Group {
    pub(super) fn new() -> io::Result<Group> {
        Ok(Group {})
    }

    pub(super) fn admit(&self, _: &mut Command) {}

    pub(super) fn ask_to_stop(&self, child: &mut Child) {
        self.end(child);
    }

    pub(super) fn end(&self, child: &mut Child) {
        let _ = child.kill();
    }
}
