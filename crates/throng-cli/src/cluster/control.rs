//! The connections between process 0 and the others, and those for timely.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};

use super::frame::{self, Hello, Kind, Purpose, greet, welcome};
use super::{BEAT, Hosts, SILENCE};
use throng_engine::distributed::{Allocators, Mesh};
use throng_model::limits::Stopper;

/// Ends this process because of what is said; does nothing if there is an answer already.
pub type Fault = Arc<dyn Fn(&str) + Send + Sync>;

/// Time limit for a greeting.
const GREETING: Duration = Duration::from_secs(5);

/// Time limit for connecting for a search once all processes are there.
const MEETING: Duration = Duration::from_secs(60);

/// Incoming connections, and a condition variable for threads that wait for one.
type Arrived = (Mutex<Vec<(Hello, TcpStream)>>, Condvar);

/// This process among the others.
pub struct Control {
    hosts: Hosts,
    me: usize,
    token: Vec<u8>,
    fault: Fault,
    /// Connections that came in, until they are asked for.
    arrived: Arc<Arrived>,
    /// Control connections: process 0 has one to each other process, the others to process 0.
    peers: Vec<Mutex<Option<TcpStream>>>,
    heard: Vec<Mutex<Instant>>,
    inbox: Mutex<Receiver<(Kind, Vec<u8>)>>,
    outbox: Mutex<Sender<(Kind, Vec<u8>)>>,
    stopper: Mutex<Option<Stopper>>,
    searches: AtomicU32,
    over: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// Meets the other processes; gives up after `patience`.
    pub fn join(
        hosts: Hosts,
        me: usize,
        token: Vec<u8>,
        patience: Duration,
        fault: Fault,
    ) -> Result<Arc<Control>, String> {
        let (outbox, inbox) = channel();
        let control = Arc::new(Control {
            me,
            token,
            fault,
            arrived: Arc::default(),
            peers: hosts.0.iter().map(|_| Mutex::default()).collect(),
            heard: hosts.0.iter().map(|_| Mutex::new(Instant::now())).collect(),
            inbox: Mutex::new(inbox),
            outbox: Mutex::new(outbox),
            stopper: Mutex::default(),
            searches: AtomicU32::new(0),
            over: AtomicBool::new(false),
            hosts,
        });
        control.listen()?;
        control.clone().spawn("beats", Control::beat);
        let deadline = Instant::now() + patience;
        if me == 0 {
            for _ in 1..control.peers.len() {
                let Some((hello, stream)) =
                    control.arrival(|hello| hello.purpose == Purpose::Control, deadline)
                else {
                    let missing = (1..control.peers.len()).filter(|&i| lock(&control.peers[i]).is_none());
                    let missing: Vec<String> = missing.map(|i| control.hosts.describe(i)).collect();
                    let why =
                        format!("{} did not connect within {} s", missing.join(", "), patience.as_secs_f64());
                    // Who hears it goes, and that is not to be reported instead.
                    control.end();
                    control.announce(Kind::Dead, why.as_bytes());
                    return Err(why);
                };
                control.clone().admit(hello.process, stream);
            }
        } else {
            let hello = Hello { process: me, purpose: Purpose::Control };
            let stream = control.dial(0, hello, deadline)?;
            control.clone().admit(0, stream);
        }
        Ok(control)
    }

    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.hosts.0.len()
    }

    /// Sends to all that this process has a control connection to.
    pub fn announce(&self, kind: Kind, body: &[u8]) {
        for (process, peer) in self.peers.iter().enumerate() {
            let sent = lock(peer).as_mut().map_or(Ok(()), |stream| frame::send(stream, kind, body));
            if let (Err(why), false) = (sent, kind == Kind::Dead) {
                self.died(process, &format!("its connection failed: {why}"));
            }
        }
    }

    /// Waits for the next message of process 0: the command, or the exit status. None after
    /// `patience`.
    pub fn next(&self, patience: Option<Duration>) -> Option<(Kind, Vec<u8>)> {
        let inbox = lock(&self.inbox);
        match patience {
            Some(patience) => inbox.recv_timeout(patience).ok(),
            None => inbox.recv().ok(),
        }
    }

    /// Allows processes to end from now on.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    fn spawn(self: Arc<Control>, name: &str, work: impl FnOnce(&Control) + Send + 'static) {
        let (control, failed) = (self.clone(), self);
        if let Err(why) = thread::Builder::new().name(name.into()).spawn(move || work(&control)) {
            (failed.fault)(&format!("cannot start a thread: {why}"));
        }
    }

    /// Accepts connections of this run, for as long as the process lives.
    fn listen(self: &Arc<Control>) -> Result<(), String> {
        let address = self.hosts.listening(self.me);
        let listener = TcpListener::bind(&address)
            .map_err(|why| format!("{} cannot listen: {why}", self.hosts.describe(self.me)))?;
        self.clone().spawn("listen", move |control| {
            for stream in listener.incoming().flatten() {
                let (token, arrived) = (control.token.clone(), control.arrived.clone());
                let processes = control.processes();
                let _ = thread::Builder::new().spawn(move || {
                    let mut stream = stream;
                    let hello = welcome(&mut stream, &token, GREETING);
                    match hello.ok().filter(|hello| hello.process < processes) {
                        Some(hello) => {
                            let _ = stream.set_nodelay(true);
                            lock(&arrived.0).push((hello, stream));
                            arrived.1.notify_all();
                        }
                        None => drop(stream.shutdown(Shutdown::Both)),
                    }
                });
            }
        });
        Ok(())
    }

    /// Waits for a connection.
    fn arrival(&self, wanted: impl Fn(&Hello) -> bool, deadline: Instant) -> Option<(Hello, TcpStream)> {
        let mut arrived = lock(&self.arrived.0);
        loop {
            if let Some(i) = arrived.iter().position(|(hello, _)| wanted(hello)) {
                return Some(arrived.swap_remove(i));
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            arrived = self.arrived.1.wait_timeout(arrived, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Connects to a process, which may not be listening yet.
    fn dial(&self, process: usize, hello: Hello, deadline: Instant) -> Result<TcpStream, String> {
        loop {
            let tried = self.try_dial(process, hello);
            let why = match tried {
                Ok(stream) => return Ok(stream),
                Err(why) => why,
            };
            if Instant::now() >= deadline {
                return Err(format!("cannot connect to {}: {why}", self.hosts.describe(process)));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn try_dial(&self, process: usize, hello: Hello) -> io::Result<TcpStream> {
        let address = self.hosts.0[process].to_socket_addrs()?.next();
        let address = address.ok_or_else(|| io::Error::other("the name has no address"))?;
        let mut stream = TcpStream::connect_timeout(&address, GREETING)?;
        stream.set_nodelay(true)?;
        greet(&mut stream, hello, &self.token, GREETING)?;
        Ok(stream)
    }

    /// Keeps a control connection and listens to it.
    fn admit(self: Arc<Control>, process: usize, stream: TcpStream) {
        let _ = stream.set_write_timeout(Some(SILENCE));
        let Ok(mut reading) = stream.try_clone() else {
            return self.died(process, "its connection cannot be used");
        };
        *lock(&self.heard[process]) = Instant::now();
        *lock(&self.peers[process]) = Some(stream);
        self.spawn("control", move |control| {
            loop {
                match frame::receive(&mut reading) {
                    Ok((kind, body)) => control.hear(process, kind, body),
                    Err(_) => return control.died(process, "its connection was closed"),
                }
            }
        });
    }

    fn hear(&self, process: usize, kind: Kind, body: Vec<u8>) {
        *lock(&self.heard[process]) = Instant::now();
        match kind {
            Kind::Beat => {}
            Kind::Stop => {
                lock(&self.stopper).iter().for_each(Stopper::stop);
                // Process 0 is the only one that all others hear.
                if self.me == 0 && process != 0 {
                    self.announce(Kind::Stop, &[]);
                }
            }
            Kind::Dead => self.give_up(&String::from_utf8_lossy(&body)),
            Kind::Work | Kind::Done => {
                if kind == Kind::Done {
                    self.end();
                }
                let _ = lock(&self.outbox).send((kind, body));
            }
        }
    }

    /// Sends signs of life, and notices processes that do not.
    fn beat(&self) {
        loop {
            thread::sleep(BEAT);
            self.announce(Kind::Beat, &[]);
            for (process, heard) in self.heard.iter().enumerate() {
                let silent = lock(heard).elapsed();
                if silent > SILENCE && lock(&self.peers[process]).is_some() {
                    self.died(process, &format!("there was no sign of life for {} s", SILENCE.as_secs()));
                }
            }
        }
    }

    fn died(&self, process: usize, how: &str) {
        if !self.over.load(Ordering::SeqCst) {
            let why = format!("{} died: {how}", self.hosts.describe(process));
            if self.me == 0 {
                self.over.store(true, Ordering::SeqCst);
                self.announce(Kind::Dead, why.as_bytes());
                self.over.store(false, Ordering::SeqCst);
            }
            self.give_up(&why);
        }
    }

    fn give_up(&self, why: &str) {
        if !self.over.swap(true, Ordering::SeqCst) {
            (self.fault)(why);
        }
    }
}

impl Mesh for Control {
    fn connect(&self, workers: usize, stopper: Stopper) -> Result<Allocators, String> {
        *lock(&self.stopper) = Some(stopper);
        let hooks = Hooks::default();
        let inside = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), None);
        let connected = initialize_networking_from_sockets(inside, self.meet()?, self.me, workers, hooks);
        let (builders, guard) = connected.map_err(|why| format!("cannot use the connections: {why}"))?;
        Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard)))
    }

    fn stop(&self) {
        self.announce(Kind::Stop, &[]);
    }

    fn lost(&self) {
        // The thread that watches the connections reports which process died.
        thread::sleep(SILENCE + 3 * BEAT);
    }
}

impl Control {
    /// A connection to each other process, for the messages of a search.
    fn meet(&self) -> Result<Vec<Option<TcpStream>>, String> {
        let purpose = Purpose::Data(self.searches.fetch_add(1, Ordering::SeqCst));
        let deadline = Instant::now() + MEETING;
        let mut streams: Vec<Option<TcpStream>> = (0..self.processes()).map(|_| None).collect();
        for (process, stream) in streams.iter_mut().enumerate().take(self.me) {
            *stream = Some(self.dial(process, Hello { process: self.me, purpose }, deadline)?);
        }
        for _ in self.me + 1..self.processes() {
            let missing = |hello: &Hello| {
                hello.purpose == purpose && hello.process > self.me && streams[hello.process].is_none()
            };
            let Some((hello, stream)) = self.arrival(missing, deadline) else {
                return Err("not all processes connected for the search".into());
            };
            streams[hello.process] = Some(stream);
        }
        Ok(streams)
    }
}
