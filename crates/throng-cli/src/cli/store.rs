//! `--store FOLDER`: sets of configurations in files of a folder, mapped into memory.
//!
//! A file has no name: it is removed as soon as it is open, so no other process can open it, and it
//! is gone with this one however that ends. The operating system keeps in memory what is used and
//! writes the rest to disk.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::{MmapMut, MmapOptions};

use throng_model::packed::region::{Mapping, Mappings};

/// A folder for files.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder, if files can be written there.
    pub fn new(path: &Path) -> Result<Folder, String> {
        let folder = Folder(path.to_path_buf());
        folder.create()?.resize(1)?;
        Ok(folder)
    }
}

impl Mappings for Folder {
    fn create(&self) -> Result<Box<dyn Mapping>, String> {
        let file = tempfile::tempfile_in(&self.0).map_err(|why| why.to_string())?;
        Ok(Box::new(Mapped { file, bytes: None }))
    }
}

/// A file and its bytes.
#[derive(Debug)]
struct Mapped {
    file: File,
    /// None as long as the file is empty.
    bytes: Option<MmapMut>,
}

impl Mapping for Mapped {
    fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.as_deref_mut().unwrap_or_default()
    }

    fn resize(&mut self, bytes: usize) -> Result<(), String> {
        let there = self.bytes().len();
        self.bytes = None;
        let resized = lengthen(&self.file, bytes);
        // Where that failed, what was there still is.
        let length = if resized.is_ok() { bytes } else { there };
        if length > 0 {
            self.bytes = Some(map(&self.file, length).map_err(|why| why.to_string())?);
        }
        resized.map_err(|why| why.to_string())
    }
}

fn lengthen(file: &File, bytes: usize) -> io::Result<()> {
    file.set_len(bytes as u64)?;
    reserve(file, bytes)
}

/// The first bytes of a file.
#[allow(unsafe_code)]
fn map(file: &File, length: usize) -> io::Result<MmapMut> {
    // SAFETY: memory that is mapped must not change or shrink behind our back. The file has no name
    // and was never given away, so only this process writes to it, through this one mapping; and it
    // changes its length only when nothing is mapped (`Mapped::resize`).
    unsafe { MmapOptions::new().len(length).map_mut(file) }
}

/// Sees to it that the disk has room for all bytes: where it has none, writing to the mapping would
/// end the process.
#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    use nix::errno::Errno;
    match nix::fcntl::fallocate(file, nix::fcntl::FallocateFlags::empty(), 0, bytes as i64) {
        // Not every file system reports it.
        Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
        Err(why) => Err(why.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: usize) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_when_a_file_grows() {
        let folder = Folder::new(&std::env::temp_dir()).expect("there is a folder for temporary files");
        let mut mapping = folder.create().expect("a file");
        assert!(mapping.bytes().is_empty());
        mapping.resize(10).expect("room");
        mapping.bytes_mut().copy_from_slice(b"0123456789");
        mapping.resize(1 << 20).expect("room");
        assert_eq!((mapping.bytes().len(), &mapping.bytes()[..10]), (1 << 20, &b"0123456789"[..]));
        let mut other = folder.create().expect("another file");
        other.resize(10).expect("room");
        assert_eq!(other.bytes(), [0; 10]);
    }

    #[test]
    fn what_does_not_fit_on_the_disk_is_an_error() {
        let folder = Folder::new(&std::env::temp_dir()).expect("there is a folder for temporary files");
        let mut mapping = folder.create().expect("a file");
        mapping.resize(10).expect("room");
        assert!(mapping.resize(1 << 60).is_err());
        assert_eq!(mapping.bytes().len(), 10, "what was there still is");
    }

    #[test]
    fn a_folder_that_is_none_is_refused() {
        assert!(Folder::new(Path::new("/no/such/folder")).is_err());
        assert!(Folder::new(&std::env::current_exe().expect("a file")).is_err());
    }
}
