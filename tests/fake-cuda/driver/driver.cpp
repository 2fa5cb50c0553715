#include "driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conditional.h"
#include "launch.h"

std::mutex &driver_mutex() {
    static auto *mutex = new std::mutex; // threads may outlive what the library would destroy
    return *mutex;
}

std::unique_lock<std::mutex> &driver_lock() {
    static thread_local std::unique_lock<std::mutex> lock;
    return lock;
}

bool has_driver_lock() { return driver_lock().owns_lock(); }

static Driver *&the_driver() {
    static Driver *driver = nullptr;
    return driver;
}

Driver &driver() {
    if (!the_driver()) the_driver() = new Driver(Settings::read(nullptr));
    return *the_driver();
}

Driver::Driver(const Settings &settings) : settings(settings), random(settings.seed), failures(settings.fail) {
    for (int ordinal = 0; ordinal < settings.devices; ordinal++) {
        auto device = std::make_unique<Device>();
        device->ordinal = ordinal;
        device->default_pool = device->pool = new_pool(ordinal, true);
        devices.push_back(std::move(device));
    }
}

Driver::~Driver() = default;

CUresult found_error(const std::string &what, CUresult error) {
    fprintf(stderr, "fake CUDA: %s\n", what.c_str());
    driver().findings.push_back(what);
    if (driver().settings.findings == Settings::Abort) abort();
    return error;
}

CUresult found(const std::string &what, CUresult error) {
    found_error(what, error);
    return driver().settings.findings == Settings::Report ? CUDA_SUCCESS : error;
}

Call::Call(Kind kind, Needs needs) {
    if (has_driver_lock()) { // a host function never holds it; the library does not call itself
        fprintf(stderr, "fake CUDA: a call within a call\n");
        abort();
    }
    driver_lock() = std::unique_lock<std::mutex>(driver_mutex());
    Driver &d = driver();
    if (d.scheduler.is_this_thread() && needs != Nothing) {
        refused = found_error("a host function calls CUDA", CUDA_ERROR_NOT_PERMITTED);
        return;
    }
    if (needs != Nothing && !d.is_initialised) {
        refused = CUDA_ERROR_NOT_INITIALIZED;
        return;
    }
    context = current_context();
    int device = context ? context->device : -1;
    if (needs == AContext) {
        if (!context) {
            refused = CUDA_ERROR_INVALID_CONTEXT;
            return;
        }
        CUresult lost = d.failures.next(Kind::Lost, device);
        if (lost && !d.device(device).lost) {
            d.device(device).lost = true;
            if (!context->error) context->error = lost;
        }
        if (context->error) {
            refused = context->error;
            return;
        }
    }
    refused = d.failures.next(kind, device);
}

Call::~Call() {
    driver_lock().unlock();
    driver_lock().release();
}

// What is done with a bad address, if it is none of this library's: of those that no pointer can have it is a bus error.
static struct sigaction before_segv, before_bus;

static void at_fault(int signal, siginfo_t *info, void *context) {
    uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
    if (Launch *launch = Launch::running()) launch->fault(address); // does not return
    bool is_ours = address >= FIRST_ADDRESS && address < FIRST_ADDRESS + 16 * DEVICE_ADDRESSES;
    if (is_ours) {
        bool can_look = has_driver_lock() || driver_mutex().try_lock();
        std::string what = can_look ? driver().memory->about(address) : "memory of a device";
        what = "fake CUDA: the host reads or writes " + what + "\n";
        // Not through stdio, which wants more stack than there may be.
        if (write(STDERR_FILENO, what.data(), what.size()) < 0) abort();
    }
    const struct sigaction &before = signal == SIGBUS ? before_bus : before_segv;
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal, info, context);
    } else {
        sigaction(signal, &before, nullptr);
    }
}

static void watch_faults() {
    static bool done = false;
    if (done) return;
    done = true;
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = at_fault;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &ours, &before_segv);
    sigaction(SIGBUS, &ours, &before_bus);
}

API cuInit(unsigned flags) {
    Call call(Kind::Init, Call::Nothing);
    if (call.refused) return call.refused;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    Driver &d = driver();
    if (d.devices.empty()) return CUDA_ERROR_NO_DEVICE;
    if (!d.memory) d.memory = std::make_unique<Memory>(d.settings.devices);
    watch_faults();
    d.is_initialised = true;
    return CUDA_SUCCESS;
}

API cuDriverGetVersion(int *version) {
    *version = driver().settings.version;
    return CUDA_SUCCESS;
}

// Forgets everything, and reads the settings anew: those of the environment, and `name=value` words. For tests.
extern "C" __attribute__((visibility("default"))) void fake_cuda_reset(const char *settings) {
    driver_lock() = std::unique_lock<std::mutex>(driver_mutex());
    if (Driver *old = the_driver()) {
        old->scheduler.stop();
        delete old;
    }
    the_driver() = new Driver(Settings::read(settings));
    driver_lock().unlock();
    driver_lock().release();
}

// What was found since, a line each, and what is left when `with_left`. The text stays until the next call.
extern "C" __attribute__((visibility("default"))) const char *fake_cuda_findings(int with_left) {
    static std::string text;
    std::lock_guard<std::mutex> lock(driver_mutex());
    text.clear();
    for (const std::string &finding : driver().findings) text += finding + "\n";
    if (with_left && driver().memory) text += driver().memory->left();
    return text.c_str();
}

// The calls since, of each kind. The text stays until the next call.
extern "C" __attribute__((visibility("default"))) const char *fake_cuda_calls() {
    static std::string text;
    std::lock_guard<std::mutex> lock(driver_mutex());
    text = driver().failures.calls();
    return text.c_str();
}

// From now on, or no longer, copies to the host do not run.
extern "C" __attribute__((visibility("default"))) void fake_cuda_hold_downloads(int held) {
    std::lock_guard<std::mutex> lock(driver_mutex());
    driver().scheduler.hold_downloads(held != 0);
}
