//! [`CudaDevice`]: a device with its streams, its memory and its loaded modules.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::CUdevice;
use dahl_cuda::CudaImage;
use dahl_cuda::call::CudaLibrary;

use super::allocation::{Allocation, Moved};
use super::calls;
use super::context::{Context, Entered};
use super::error::{CudaError, check};
use super::event::{Event, EventPool};
use super::graph_counts::GraphCounts;
use super::launches::{Form, KernelParameters, LaunchConfig};
use super::library;
use super::link::Link;
use super::modules::{Function, Modules, Unloaded};
use super::pinned::{Pinned, Staging};
use super::pool;
use super::properties::{capability, name, pci_address};
use super::stream::{CAPTURE, COMPUTE, DOWN, STREAMS, Stream, UP};
use super::timeline::{Now, Timeline};
use crate::libraries;

/// A device of CUDA.
pub struct CudaDevice {
    index: usize,
    name: String,
    pci_address: String,
    free_bytes: usize,
    link: Link,
    modules: Modules,
    /// Which libraries were asked for, and did not want this device.
    lacks: [AtomicBool; CudaLibrary::COUNT],
    /// Whether libraries may compute in TF32.
    allows_tf32: AtomicBool,
    staging: Arc<Staging>,
    timeline: Timeline,
    streams: [Arc<Stream>; STREAMS],
    /// Whether programs run as graphs.
    runs_graphs: AtomicBool,
    graph_counts: Mutex<GraphCounts>,
    /// The dynamic shared memory that was asked for, by the address of the function.
    shared_bytes: Mutex<HashMap<usize, u32>>,
    // Last: what is above uses it.
    context: Arc<Context>,
}

/// What was found when devices were looked for.
#[derive(Debug)]
pub enum DeviceSearch {
    /// At least one.
    Devices(Vec<Arc<CudaDevice>>),
    /// Why there are none.
    None(String),
}

impl CudaDevice {
    /// The devices of this machine, `most` at most. They say when something was by the clock `now_ns`.
    pub fn find(most: usize, now_ns: &Now) -> DeviceSearch {
        if most == 0 {
            return DeviceSearch::None("none are wanted".to_owned());
        }
        if let Err(reason) = library::start() {
            return DeviceSearch::None(reason);
        }
        let mut count = 0;
        // SAFETY: room for a number.
        if let Err(error) = check("cuDeviceGetCount", unsafe { calls::cuDeviceGetCount(&raw mut count) }) {
            return DeviceSearch::None(error.to_string());
        }
        let most = most.min(usize::try_from(count).unwrap_or(0));
        let mut devices = Vec::new();
        for index in 0..most {
            match Self::open(index, now_ns) {
                Ok(device) => devices.push(device),
                // Numbers have no gaps: those after it are left out as well.
                Err(error) if index == 0 => return DeviceSearch::None(error.to_string()),
                Err(error) => {
                    eprintln!("dahl: CUDA device {index} is not used, nor are those after it: {error}");
                    break;
                }
            }
        }
        if devices.is_empty() {
            return DeviceSearch::None("the driver knows no device".to_owned());
        }
        if let Err(error) = Self::open_to_each_other(&devices) {
            eprintln!("dahl: CUDA devices copy to each other through the main memory: {error}");
        }
        DeviceSearch::Devices(devices)
    }

    /// Lets the devices copy from one to the other.
    fn open_to_each_other(devices: &[Arc<Self>]) -> Result<(), CudaError> {
        let raw = |device: &Arc<Self>| device.context.device();
        for device in devices {
            let _entered = device.enter()?;
            let mut others = devices.iter().filter(|other| other.index != device.index);
            others.try_for_each(|other| pool::open_to(raw(device), raw(other)))?;
        }
        Ok(())
    }

    fn open(index: usize, now_ns: &Now) -> Result<Arc<Self>, CudaError> {
        let mut device: CUdevice = 0;
        // SAFETY: room for a device.
        check("cuDeviceGet", unsafe { calls::cuDeviceGet(&raw mut device, index as i32) })?;
        let context = Context::retain(device)?;
        let _entered = context.enter()?;
        pool::keep_memory(device)?;
        let (mut free_bytes, mut total_bytes) = (0, 0);
        // SAFETY: room for two numbers; the context is current.
        let code = unsafe { calls::cuMemGetInfo_v2(&raw mut free_bytes, &raw mut total_bytes) };
        check("cuMemGetInfo", code)?;
        let event_pool = EventPool::new(&context);
        let stream = |number| Stream::new((index, number), &context, &event_pool);
        let streams = [stream(COMPUTE)?, stream(UP)?, stream(DOWN)?, stream(CAPTURE)?];
        let timeline = Timeline::new(Arc::clone(now_ns));
        timeline.renew(&streams[UP])?;
        let staging = Staging::new(&context);
        let name = name(device)?;
        let link = Link::of(&format!("{name} {index}"), &streams[UP], &staging)?;
        Ok(Arc::new(Self {
            index,
            name,
            pci_address: pci_address(device)?,
            free_bytes,
            link,
            modules: Modules::new(&context, capability(device)?),
            lacks: Default::default(),
            allows_tf32: AtomicBool::new(false),
            staging: Arc::new(staging),
            timeline,
            streams,
            runs_graphs: AtomicBool::new(true),
            graph_counts: Mutex::default(),
            shared_bytes: Mutex::default(),
            context: Arc::clone(&context),
        }))
    }

    /// The driver's number of it.
    pub fn index(&self) -> usize {
        self.index
    }

    /// What its maker calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its PCI address: `0000:3b:00.0`.
    pub fn pci_address(&self) -> &str {
        &self.pci_address
    }

    /// Bytes that nobody used when it was opened.
    pub fn free_bytes(&self) -> usize {
        self.free_bytes
    }

    /// What a copy from or to the host takes: microseconds, and bytes per nanosecond.
    pub fn link(&self) -> (f64, f64) {
        (self.link.latency_us, self.link.gbytes_per_s)
    }

    pub(super) fn enter(&self) -> Result<Entered, CudaError> {
        self.context.enter()
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn stream(&self, number: usize) -> &Arc<Stream> {
        &self.streams[number]
    }

    pub(super) fn staging(&self) -> &Arc<Staging> {
        &self.staging
    }

    /// Memory of `bytes` bytes that the compute stream uses first; `reservation` is dropped when it is free.
    pub fn allocate<R>(self: &Arc<Self>, bytes: usize, reservation: R) -> Result<Allocation<R>, CudaError> {
        Allocation::new(self, bytes, reservation, COMPUTE)
    }

    /// The same, of memory to which elements are copied first.
    pub fn allocate_for_copy<R>(
        self: &Arc<Self>,
        bytes: usize,
        reservation: R,
    ) -> Result<Allocation<R>, CudaError> {
        Allocation::new(self, bytes, reservation, UP)
    }

    /// The streams that receive work. A wait for the other one would end what it captures.
    fn working_streams(&self) -> impl Iterator<Item = &Arc<Stream>> {
        self.streams.iter().filter(|stream| stream.number() != CAPTURE)
    }

    /// Waits until it has nothing to do any more.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.working_streams().try_for_each(|stream| stream.synchronize())
    }

    /// The same, whatever went wrong with what it had to do.
    pub fn drain(&self) {
        self.working_streams().for_each(|stream| stream.drain());
    }

    /// An event behind what the compute stream has been given.
    pub fn compute_event(&self) -> Result<Event, CudaError> {
        self.stream(COMPUTE).record_event()
    }

    /// An event from which on the time counts of what the compute stream is given next.
    pub fn begin_event(&self) -> Result<Event, CudaError> {
        self.stream(COMPUTE).begin_event()
    }

    /// Whether it may have the functions of these entry points of an image.
    pub fn may_load(&self, image: &'static CudaImage, entries: impl Iterator<Item = String>) -> bool {
        self.modules.may_load(image, entries)
    }

    /// The function of an entry point of an image, which is loaded when it is first wanted.
    pub fn function(&self, image: &'static CudaImage, entry: &str) -> Result<Function, Unloaded> {
        self.modules.function(image, entry)
    }

    /// Sets whether libraries may compute in TF32.
    pub fn allow_tf32(&self, allowed: bool) {
        self.allows_tf32.store(allowed, Ordering::Relaxed);
    }

    /// Whether libraries may compute in TF32.
    pub fn allows_tf32(&self) -> bool {
        self.allows_tf32.load(Ordering::Relaxed)
    }

    /// Whether kernels can call a library.
    pub fn has_library(&self, library: CudaLibrary) -> bool {
        !self.lacks[library as usize].load(Ordering::Relaxed) && libraries::is_there(library)
    }

    /// Notes that a library does not want this device.
    pub fn leave_out(&self, library: CudaLibrary) {
        self.lacks[library as usize].store(true, Ordering::Relaxed);
    }

    /// The compute capability: 90 for 9.0.
    pub fn capability(&self) -> u32 {
        self.modules.capability()
    }

    /// Gives a launch to the compute stream.
    ///
    /// # Safety
    /// The parameters are those of the kernel, of its types; the memory that they lead to has been
    /// [entered](Allocation::enter_compute), and what follows on it waits for an event behind the launch.
    pub unsafe fn launch(
        &self,
        function: Function,
        config: LaunchConfig,
        parameters: KernelParameters<'_>,
    ) -> Result<(), CudaError> {
        if config.grid.contains(&0) {
            return Ok(());
        }
        let form = Form::new(function, config);
        self.ask_for_shared(&form)?;
        // SAFETY: the caller's.
        unsafe { self.stream(COMPUTE).launch(form, parameters) }
    }

    /// Asks for the dynamic shared memory that a launch needs, beyond what every kernel may have.
    pub(super) fn ask_for_shared(&self, form: &Form) -> Result<(), CudaError> {
        let Some((function, bytes)) = form.shared_to_ask_for() else { return Ok(()) };
        let _entered = self.enter()?;
        let mut asked = self.shared_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = asked.entry(function).or_default();
        // Never less than a launch that the driver has taken needs.
        if *asked < bytes {
            form.ask_for_shared()?;
            *asked = bytes;
        }
        Ok(())
    }

    /// Sets whether programs run as graphs.
    pub fn run_graphs(&self, allowed: bool) {
        self.runs_graphs.store(allowed, Ordering::Relaxed);
    }

    /// Whether programs run as graphs.
    pub fn runs_graphs(&self) -> bool {
        self.runs_graphs.load(Ordering::Relaxed)
    }

    /// What graphs have come to.
    pub fn graph_counts(&self) -> GraphCounts {
        *self.counts_of_graphs()
    }

    pub(super) fn counts_of_graphs(&self) -> MutexGuard<'_, GraphCounts> {
        self.graph_counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A word of the host's memory that is `value`, which kernels reach by the same address (D4).
    pub fn take_word(&self, value: u64) -> Result<Pinned, CudaError> {
        let word = self.staging.take(size_of::<u64>())?;
        // SAFETY: P, and a buffer is aligned as a page is.
        unsafe { word.pointer().cast::<u64>().write(value) };
        Ok(word)
    }

    /// What is in a word now, which nothing in the streams uses any more.
    pub fn read_word(&self, word: Pinned) -> u64 {
        let value = self.peek_word(&word);
        self.staging.give_back_free(word);
        value
    }

    /// The same, of a word that is used again.
    pub fn peek_word(&self, word: &Pinned) -> u64 {
        // SAFETY: P, and a buffer is aligned as a page is; what kernels wrote there came before an event that has passed.
        unsafe { word.pointer().cast::<u64>().read() }
    }

    /// Sets a word that nothing in the streams uses.
    pub fn set_word(&self, word: &mut Pinned, value: u64) {
        // SAFETY: as above.
        unsafe { word.pointer().cast::<u64>().write(value) };
    }

    /// Takes a word back that what the compute stream was given may still use.
    pub fn leave_word(&self, word: Pinned) {
        match self.compute_event() {
            Ok(event) => self.staging.give_back(word, event),
            Err(_) => std::mem::forget(word), // nobody knows when it is free
        }
    }

    /// When an event was passed, which has been.
    pub fn passed_ns(&self, event: &Event) -> u64 {
        self.timeline.passed_ns(event)
    }

    /// When a transfer that one of its streams was given began and ended; nothing as long as it has not ended.
    pub fn moved_ns(&self, moved: &Moved) -> Result<Option<(u64, u64)>, CudaError> {
        let has_ended = moved.end.is_passed()?;
        Ok(has_ended.then(|| (self.passed_ns(&moved.begin), self.passed_ns(&moved.end))))
    }

    /// To be called now and then while it has nothing to do.
    pub fn rest(&self) -> Result<(), CudaError> {
        self.timeline.renew(&self.streams[UP])
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        self.drain(); // D6
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaDevice({}, {})", self.index, self.name)
    }
}
