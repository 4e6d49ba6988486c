//! `--checkpoint FOLDER` of `distributed`: each worker's part of the state is a file, and a small
//! file says which state is complete.
//!
//! A part is what the worker writes and a checksum over it (CRC-32, four bytes).
//! `throng-cluster.json` is renamed into place once all parts are safely on disk: at any moment it
//! names a complete state or there is none. All processes must see the same folder.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::cli::CheckArgs;
use crate::cli::checkpoint::{CHECKSUM, Header, Summing, differs, refused};
use crate::cli::console::{Failure, complain};
use throng_engine::distributed::{Fill, Parts, Take};
use throng_lang::load::Loaded;
use throng_model::problem::Problem;

/// Names the state to resume from.
const MANIFEST: &str = "throng-cluster.json";

#[derive(Serialize, Deserialize)]
struct Manifest {
    search: Header,
    state: u64,
    workers: usize,
}

/// A folder with the parts of a state.
pub(in crate::cli) struct PartFolder {
    path: PathBuf,
    header: Header,
    every: Duration,
    latest: Option<(u64, usize)>,
    written: Mutex<Instant>,
}

impl PartFolder {
    /// Opens the folder, or makes it, and sees whether it belongs to this question.
    pub(in crate::cli) fn open(
        path: &Path,
        args: &CheckArgs,
        loaded: &Loaded,
        problem: &Problem,
    ) -> Result<PartFolder, Failure> {
        fs::create_dir_all(path).map_err(|why| refused(path, &why.to_string()))?;
        let header = Header::new(args, loaded, problem);
        let latest = match fs::read(path.join(MANIFEST)) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => None,
            Err(why) => return Err(refused(path, &why.to_string())),
            Ok(text) => {
                let manifest = serde_json::from_slice::<Manifest>(&text);
                let manifest =
                    manifest.map_err(|_| refused(path, "it is damaged; remove it to start anew"))?;
                differs(&manifest.search, &header).map_or(Ok(()), |why| Err(refused(path, &why)))?;
                Some((manifest.state, manifest.workers))
            }
        };
        let every = args.checkpoint_every.unwrap_or(Duration::from_secs(20));
        Ok(PartFolder { path: path.into(), header, every, latest, written: Mutex::new(Instant::now()) })
    }

    /// Returns a description of what is resumed, if anything.
    pub(in crate::cli) fn earlier(&self) -> Option<String> {
        let (_, workers) = self.latest?;
        let by = if workers == 1 { "worker" } else { "workers" };
        Some(format!("resuming from {}, written by {workers} {by}", self.path.display()))
    }

    /// When everything has been printed: the state is no longer needed, or this says how to resume.
    pub(in crate::cli) fn end(&self, unanswered: bool) -> Option<String> {
        let path = self.path.display();
        if unanswered {
            let how = format!(
                "the search up to its last complete layer is in {path}: the same command resumes there"
            );
            return self.path.join(MANIFEST).exists().then_some(how);
        }
        let removed = match fs::remove_file(self.path.join(MANIFEST)) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
            _ => self.remove_parts(u64::MAX),
        };
        // Whatever else is in it stays.
        let _ = fs::remove_dir(&self.path);
        removed.err().map(|why| format!("warning: cannot remove the checkpoint {path}: {why}"))
    }

    fn part(&self, state: u64, worker: usize) -> PathBuf {
        self.path.join(format!("part-{state}-{worker}"))
    }

    /// Removes the parts of all states before one; later ones may be being written.
    fn remove_parts(&self, before: u64) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let state =
                name.to_str().and_then(|name| name.strip_prefix("part-")?.split_once('-')?.0.parse().ok());
            if state.is_some_and(|state: u64| state < before) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn try_write(&self, path: &Path, content: &dyn Fn(Take<'_>)) -> io::Result<()> {
        let file = File::create(path)?;
        let mut out =
            BufWriter::with_capacity(1 << 16, Summing { file: &file, sum: crc32fast::Hasher::new() });
        let mut done = Ok(());
        content(&mut |bytes| {
            if done.is_ok() {
                done = out.write_all(bytes);
            }
        });
        done.and_then(|()| out.flush())?;
        let sum = out.get_ref().sum.clone().finalize();
        (&file).write_all(&sum.to_le_bytes())?;
        file.sync_all()
    }

    fn try_open(&self, path: &Path) -> io::Result<io::Take<BufReader<File>>> {
        let damaged = || io::Error::other("the checksum is wrong");
        let mut file = File::open(path)?;
        let length = file.metadata()?.len().checked_sub(CHECKSUM).ok_or_else(damaged)?;
        let (mut sum, mut block) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
        let mut left = length;
        while left > 0 {
            let most = left.min(block.len() as u64) as usize;
            file.read_exact(&mut block[..most])?;
            sum.update(&block[..most]);
            left -= most as u64;
        }
        let mut wanted = [0; CHECKSUM as usize];
        file.read_exact(&mut wanted)?;
        if u32::from_le_bytes(wanted) != sum.finalize() {
            return Err(damaged());
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(1 << 16, file).take(length))
    }
}

impl Parts for PartFolder {
    fn is_due(&self) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let due = written.elapsed() >= self.every;
        if due {
            *written = Instant::now();
        }
        due
    }

    fn write(&self, state: u64, worker: usize, content: &dyn Fn(Take<'_>)) -> bool {
        let path = self.part(state, worker);
        let written = self.try_write(&path, content);
        if let Err(why) = &written {
            let _ = fs::remove_file(&path);
            complain(&format!("warning: cannot write {}: {why}; the search goes on", path.display()));
        }
        written.is_ok()
    }

    fn complete(&self, state: u64, workers: usize) {
        let manifest = Manifest { search: self.header.clone(), state, workers };
        let beside = self.path.join(".throng-cluster.tmp");
        let text = serde_json::to_vec(&manifest).map_err(io::Error::other);
        let written = text.and_then(|text| {
            let mut file = File::create(&beside)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&beside, self.path.join(MANIFEST))?;
            File::open(&self.path).and_then(|folder| folder.sync_all())?;
            self.remove_parts(state)
        });
        if let Err(why) = written {
            complain(&format!("warning: cannot complete the checkpoint {}: {why}", self.path.display()));
        }
    }

    fn latest(&self) -> Option<(u64, usize)> {
        self.latest
    }

    fn open(&self, state: u64, worker: usize) -> Option<Fill> {
        let mut file = self.try_open(&self.part(state, worker)).ok()?;
        Some(Box::new(move |block: &mut [u8]| file.read_exact(block).is_ok()))
    }
}
