//! [`Communicator`]: MPI as the communication thread uses it: bytes, in chunks, without waiting.
//!
//! Invariants:
//! * M1: MPI is initialised as long as a `Communicator` is there, which never leaves the thread that made it, and
//!   `Sending` and `Receiving` are used on this thread too. So MPI needs no more than its level FUNNELED of us.
//! * M2: The memory of a request that is not complete stays where it is: a [`Sending`] owns its payload, a
//!   [`Receiving`] its destination, whose memory stays until `arrived`, and an [`Any`] its memory. One that is dropped
//!   before it is complete leaks them.
#![allow(unsafe_code, reason = "calls MPI, which reads and writes memory while a request is under way")]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;

use dahl_core::ranks::{Destination, Payload};
use mpi::ffi;

/// A communicator of all ranks, which only dahl uses.
pub(crate) struct Communicator {
    raw: ffi::MPI_Comm,
    rank: usize,
    ranks: usize,
    /// The largest tag.
    tags: c_int,
    /// Whether it has initialised MPI, and so finalises it.
    initialised: bool,
    /// M1: not on another thread.
    stays: PhantomData<*const ()>,
}

/// Makes `MPI_Comm_rank` and the like return a number.
fn number(of: impl FnOnce(*mut c_int) -> c_int) -> usize {
    let mut number = 0;
    let status = of(&raw mut number);
    debug_assert_eq!(status, 0, "MPI ends the program at an error");
    usize::try_from(number).unwrap_or(0)
}

impl Communicator {
    /// Initialises MPI, unless the program has.
    ///
    /// # Errors
    /// If the program has initialised MPI for one thread only, or finalised it.
    pub(crate) fn new() -> Result<Self, String> {
        // SAFETY: may be called at any time; the pointer is valid.
        let is_initialised = number(|flag| unsafe { ffi::MPI_Initialized(flag) }) != 0;
        // SAFETY: as above.
        if number(|flag| unsafe { ffi::MPI_Finalized(flag) }) != 0 {
            return Err("MPI has been finalised; a process can initialise it once".to_owned());
        }
        // SAFETY: a constant of the library, which is loaded.
        let multiple = unsafe { ffi::RSMPI_THREAD_MULTIPLE };
        if is_initialised {
            // SAFETY: MPI is initialised; the pointer is valid.
            let level = number(|level| unsafe { ffi::MPI_Query_thread(level) });
            if level != usize::try_from(multiple).unwrap_or(0) {
                return Err("the program has initialised MPI without MPI_THREAD_MULTIPLE, which dahl's communication \
                            thread needs then; initialise it with that, or not at all"
                    .to_owned());
            }
        } else {
            // More than this thread needs (M1), so that the program may call MPI too.
            // SAFETY: it has not been initialised; no arguments are passed, which is allowed; the pointer is valid.
            number(|level| unsafe {
                ffi::MPI_Init_thread(ptr::null_mut(), ptr::null_mut(), multiple, level)
            });
        }
        // SAFETY: a constant of the library.
        let world = unsafe { ffi::RSMPI_COMM_WORLD };
        let mut raw = world;
        // SAFETY: MPI is initialised; every rank of the world makes this call; the pointer is valid.
        let status = unsafe { ffi::MPI_Comm_dup(world, &raw mut raw) };
        debug_assert_eq!(status, 0, "MPI ends the program at an error");
        // A program that has initialised MPI may have chosen that errors are returned, which nothing here looks at.
        // SAFETY: the communicator is valid; the handler is one of MPI's own.
        unsafe { ffi::MPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_ARE_FATAL) };
        // SAFETY: the communicator and the pointer are valid.
        let rank = number(|rank| unsafe { ffi::MPI_Comm_rank(raw, rank) });
        // SAFETY: as above.
        let ranks = number(|ranks| unsafe { ffi::MPI_Comm_size(raw, ranks) });
        Ok(Self {
            raw,
            rank,
            ranks,
            tags: Self::largest_tag(world),
            initialised: !is_initialised,
            stays: PhantomData,
        })
    }

    fn largest_tag(world: ffi::MPI_Comm) -> c_int {
        let mut value: *mut c_int = ptr::null_mut();
        let key = c_int::try_from(ffi::MPI_TAG_UB).expect("a small constant");
        // SAFETY: MPI is initialised, and stores a pointer to an int in `value`.
        let found = number(|found| unsafe {
            ffi::MPI_Comm_get_attr(world, key, (&raw mut value).cast::<c_void>(), found)
        });
        if found == 0 || value.is_null() {
            return 32767; // what the standard guarantees
        }
        // SAFETY: the attribute is an int that stays while MPI is initialised.
        unsafe { *value }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// The tag of the `number`-th large message to a rank. Headers have tag 0.
    pub(crate) fn payload_tag(&self, number: u64) -> c_int {
        let tags = u64::try_from(self.tags).expect("at least 32767");
        c_int::try_from(1 + number % tags).expect("at most the largest tag")
    }

    /// Sends the bytes, in chunks of at most `chunk` bytes.
    pub(crate) fn send(&self, to: usize, tag: c_int, chunk: usize, payload: Payload) -> Sending {
        let chunks = (*payload).as_ref().chunks(chunk);
        let requests = chunks.map(|bytes| {
            // SAFETY: M1; the bytes stay until the request is complete (M2); `to` is a rank, and `tag` a tag.
            self.begin(|request| unsafe {
                ffi::MPI_Isend(
                    bytes.as_ptr().cast(),
                    length(bytes),
                    bytes_type(),
                    rank(to),
                    tag,
                    self.raw,
                    request,
                )
            })
        });
        let requests = requests.collect();
        Sending { requests: Requests(requests), payload: ManuallyDrop::new(payload) }
    }

    /// Receives `len` bytes that were sent in chunks of `chunk` bytes.
    ///
    /// # Errors
    /// The destination, and why it takes no such message.
    pub(crate) fn receive(
        &self,
        from: usize,
        tag: c_int,
        chunk: usize,
        len: usize,
        destination: Box<dyn Destination>,
    ) -> Result<Receiving, (Box<dyn Destination>, String)> {
        let destination = Box::into_raw(destination);
        // SAFETY: it is a valid pointer, of which this is the only copy in use.
        let memory = match unsafe { &mut *destination }.memory(len) {
            Ok(memory) if memory.len() == len => memory,
            other => {
                let error = other.err().unwrap_or_else(|| "its memory has another length".to_owned());
                // SAFETY: from `into_raw`, above.
                return Err((unsafe { Box::from_raw(destination) }, error));
            }
        };
        let requests = memory.chunks_mut(chunk).map(|bytes| {
            // SAFETY: M1; the memory stays until the request is complete (M2) and nothing else uses it; `from` is a
            // rank, and `tag` a tag.
            self.begin(|request| unsafe {
                let buffer = bytes.as_mut_ptr().cast();
                ffi::MPI_Irecv(buffer, length(bytes), bytes_type(), rank(from), tag, self.raw, request)
            })
        });
        let requests = requests.collect();
        Ok(Receiving { requests: Requests(requests), destination })
    }

    /// Begins to receive the next header, of any rank.
    pub(crate) fn receive_any(&self, mut memory: Box<[u8]>) -> Any {
        // SAFETY: a constant of the library.
        let any = unsafe { ffi::RSMPI_ANY_SOURCE };
        // SAFETY: M1; `Any` keeps the memory until the request is complete, and nothing else uses it.
        let request = self.begin(|request| unsafe {
            let buffer = memory.as_mut_ptr().cast();
            ffi::MPI_Irecv(buffer, length(&memory), bytes_type(), any, 0, self.raw, request)
        });
        Any { request, memory: ManuallyDrop::new(memory) }
    }

    fn begin(&self, call: impl FnOnce(*mut ffi::MPI_Request) -> c_int) -> ffi::MPI_Request {
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let status = call(&raw mut request);
        debug_assert_eq!(status, 0, "MPI ends the program at an error");
        request
    }

    /// Ends all ranks.
    pub(crate) fn abort(&self) -> ! {
        // SAFETY: M1.
        unsafe { ffi::MPI_Abort(self.raw, 1) };
        std::process::abort();
    }

    /// Ends MPI, if this has initialised it. `next` is the header that is still expected.
    pub(crate) fn finalise(self, next: Option<Any>) {
        if let Some(Any { mut request, memory }) = next {
            // SAFETY: M1; the request is not complete, or was not found to be so; the pointer is valid.
            unsafe { ffi::MPI_Cancel(&raw mut request) };
            // SAFETY: as above.
            unsafe { ffi::MPI_Wait(&raw mut request, ffi::RSMPI_STATUS_IGNORE) };
            // The request is complete.
            drop(ManuallyDrop::into_inner(memory));
        }
        let mut raw = self.raw;
        // SAFETY: M1; no request is under way.
        unsafe { ffi::MPI_Comm_free(&raw mut raw) };
        if self.initialised {
            // SAFETY: M1; it is the last call.
            unsafe { ffi::MPI_Finalize() };
        }
    }
}

fn length(bytes: &[u8]) -> c_int {
    c_int::try_from(bytes.len()).expect("a chunk has at most 2^31 - 1 bytes")
}

fn rank(rank: usize) -> c_int {
    c_int::try_from(rank).expect("a rank of MPI")
}

fn bytes_type() -> ffi::MPI_Datatype {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_UINT8_T }
}

/// Requests that are not complete.
struct Requests(Vec<ffi::MPI_Request>);

impl Requests {
    /// Whether all are complete.
    fn test(&mut self) -> bool {
        self.0.retain_mut(|request| {
            // SAFETY: the request is not complete, or was not found to be so; this is the thread that made it (M1); the
            // pointers are valid.
            let is_complete =
                number(|flag| unsafe { ffi::MPI_Test(request, flag, ffi::RSMPI_STATUS_IGNORE) });
            is_complete == 0
        });
        self.0.is_empty()
    }
}

/// A message that is being sent.
pub(crate) struct Sending {
    requests: Requests,
    payload: ManuallyDrop<Payload>,
}

impl Sending {
    /// None if it has been sent.
    pub(crate) fn test(mut self) -> Option<Self> {
        if self.requests.test() {
            drop(ManuallyDrop::into_inner(self.payload)); // M2
            return None;
        }
        Some(self)
    }
}

/// A message that is being received.
pub(crate) struct Receiving {
    requests: Requests,
    destination: *mut dyn Destination,
}

impl Receiving {
    /// None if it has arrived, as its destination knows then.
    pub(crate) fn test(mut self) -> Option<Self> {
        if self.requests.test() {
            // SAFETY: from `Box::into_raw`; the requests are complete, so nothing else uses its memory (M2).
            unsafe { Box::from_raw(self.destination) }.arrived(Ok(()));
            return None;
        }
        Some(self)
    }
}

/// The next header.
pub(crate) struct Any {
    request: ffi::MPI_Request,
    memory: ManuallyDrop<Box<[u8]>>,
}

impl Any {
    /// The header that has arrived.
    ///
    /// # Errors
    /// This, if none has.
    pub(crate) fn test(mut self) -> Result<Arrived, Self> {
        let (mut is_complete, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::uninit());
        // SAFETY: M1; the request is not complete, or was not found to be so; the pointers are valid.
        unsafe { ffi::MPI_Test(&raw mut self.request, &raw mut is_complete, status.as_mut_ptr()) };
        if is_complete == 0 {
            return Err(self);
        }
        // SAFETY: MPI fills the status of a complete request.
        let status = unsafe { status.assume_init() };
        // SAFETY: the status is of a receive of bytes; the pointer is valid.
        let len = number(|len| unsafe { ffi::MPI_Get_count(&raw const status, bytes_type(), len) });
        let from = usize::try_from(status.MPI_SOURCE).expect("a rank");
        // MPI no longer uses the memory.
        Ok(Arrived { from, len, memory: ManuallyDrop::into_inner(self.memory) })
    }
}

/// A header that has arrived.
pub(crate) struct Arrived {
    pub(crate) from: usize,
    pub(crate) len: usize,
    /// It is in the first `len` bytes.
    pub(crate) memory: Box<[u8]>,
}
