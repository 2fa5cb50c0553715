#include "scheduler.h"

#include <stdio.h>

#include <chrono>
#include <unordered_set>

#include "driver.h"

double now_ms() {
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(since).count();
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::start() {
    if (is_started) return;
    is_started = true;
    thread = std::thread([this] { loop(); });
}

void Scheduler::stop() {
    if (!is_started) return;
    stops = true;
    wanted.notify_all();
    bool held = has_driver_lock();
    if (held) driver_lock().unlock();
    thread.join();
    if (held) driver_lock().lock();
    is_started = false;
}

bool Scheduler::is_wanted() const {
    auto is_left = [](const Operation *target) { return !target->done; };
    return stops || runs_freely || steps > 0 || std::any_of(targets.begin(), targets.end(), is_left);
}

void Scheduler::loop() {
    std::unique_lock<std::mutex> &lock = driver_lock();
    lock = std::unique_lock<std::mutex>(driver_mutex());
    while (!stops) {
        auto next = is_wanted() ? pick() : nullptr;
        if (!next) {
            steps = 0;
            progress.notify_all();
            wanted.wait(lock);
            continue;
        }
        if (steps > 0) steps--;
        run(next);
        progress.notify_all();
        if (runs_freely && targets.empty()) {
            // The host may go on in between.
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        }
    }
    lock.unlock();
    lock.release();
}

// The operations that have to run before `operation`, and itself.
static void add_needed(const Operation *operation, std::unordered_set<const Operation *> &needed) {
    std::vector<const Operation *> left = {operation};
    while (!left.empty()) {
        const Operation *next = left.back();
        left.pop_back();
        if (next->done || !needed.insert(next).second) continue;
        for (const auto &before : next->after) left.push_back(before.get());
        for (const auto &queued : next->stream->queue) {
            if (queued.get() == next) break;
            left.push_back(queued.get());
        }
    }
}

static bool may_run(const Operation &operation) {
    for (const auto &before : operation.after) {
        if (!before->done) return false;
    }
    return true;
}

std::shared_ptr<Operation> Scheduler::pick() {
    uint64_t seed = driver().settings.seed;
    std::unordered_set<const Operation *> needed;
    if (seed == 1) {
        for (const Operation *target : targets) add_needed(target, needed);
        for (const Operation *target : looked) add_needed(target, needed);
    }
    std::vector<std::shared_ptr<Operation>> possible;
    for (const auto &stream : driver().streams) {
        if (stream->queue.empty()) continue;
        const auto &first = stream->queue.front();
        if (!needed.empty() && !needed.count(first.get())) continue;
        if (holds_downloads && first->work.is_download) continue;
        if (may_run(*first)) possible.push_back(first);
    }
    if (possible.empty()) return nullptr;
    if (seed > 1) return possible[driver().random.below(unsigned(possible.size()))];
    auto is_before = [](const auto &a, const auto &b) { return a->number < b->number; };
    return *std::min_element(possible.begin(), possible.end(), is_before);
}

void Scheduler::run(const std::shared_ptr<Operation> &operation) {
    Stream &stream = *operation->stream;
    Context &context = *stream.context;
    if (driver().settings.trace) {
        fprintf(stderr, "fake CUDA: device %d, %s: %s\n", context.device, stream.name().c_str(), operation->work.label.c_str());
    }
    if (operation->work.tells_host) host.join(operation->clock);
    if (!context.error && !driver().device(context.device).lost) {
        CUresult error = perform(operation->work);
        if (error && !context.error) context.error = error;
    }
    operation->done = true;
    operation->done_ms = now_ms();
    operation->after.clear();
    operation->work.run = nullptr;
    operation->work.launch = nullptr;
    operation->work.accesses.clear();
    stream.queue.pop_front();
}

CUresult Scheduler::perform(const Work &work) {
    if (!work.run) return CUDA_SUCCESS;
    if (work.calls_host) {
        std::unique_lock<std::mutex> lock = std::move(driver_lock());
        lock.unlock();
        CUresult result = work.run();
        lock.lock();
        driver_lock() = std::move(lock);
        return result;
    }
    if (work.type == NODE_GRAPH) return work.run(); // its nodes come here one by one
    for (const Access &access : work.accesses) {
        if (!access.allocation->released) continue;
        return found_error(work.label + " uses " + access.allocation->name() + ", which was freed", CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    Opened opened(work.accesses);
    CUresult result = work.run();
    if (auto allocation = overwritten(work.accesses); allocation && !result) {
        return found(work.label + " wrote past the end of " + allocation->name(), CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    return result;
}

void Scheduler::submitted(Operation &operation) {
    start();
    const Settings &settings = driver().settings;
    bool needs_thread = operation.work.calls_host && settings.thread == Settings::WhenNeeded;
    if (needs_thread || settings.thread == Settings::Yes) {
        runs_freely = true;
        wanted.notify_all();
    } else if (settings.seed == 0) {
        take_steps(1);
    } else if (settings.seed > 1 && driver().random.below(4) == 0) {
        take_steps(1 + driver().random.below(3));
    }
}

void Scheduler::take_steps(unsigned count) {
    steps += count;
    wanted.notify_all();
    progress.wait(driver_lock(), [this] { return steps == 0; });
}

void Scheduler::wait_for(std::shared_ptr<Operation> operation) {
    if (!operation) return;
    if (!operation->done) {
        targets.push_back(operation.get());
        wanted.notify_all();
        progress.wait(driver_lock(), [&] { return operation->done; });
        targets.erase(std::find(targets.begin(), targets.end(), operation.get()));
    }
    host.join(operation->clock);
}

void Scheduler::looked_at(std::shared_ptr<Operation> operation) {
    if (!operation->done && !runs_freely) {
        unsigned steps = driver().settings.seed > 1 ? driver().random.below(4) : 1;
        looked.push_back(operation.get());
        if (steps > 0) take_steps(steps);
        looked.erase(std::find(looked.begin(), looked.end(), operation.get()));
    }
    if (operation->done) host.join(operation->clock);
}

void Scheduler::hold_downloads(bool held) {
    holds_downloads = held;
    wanted.notify_all();
}

void Scheduler::drain(const Context *context, unsigned except_flags) {
    for (size_t i = 0; i < driver().streams.size(); i++) {
        Stream &stream = *driver().streams[i];
        if (stream.flags & except_flags) continue;
        if (!context || stream.context == context) wait_for(stream.last);
    }
}
