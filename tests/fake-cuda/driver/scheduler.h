// When work runs, and in which order: any that streams and events allow, as the seed says.
//
// Seed 0 runs each operation as soon as it is submitted, in that order. Seed 1 runs it as late as possible: when the host
// waits for it, and only what it comes after. Any other runs at any moment any that may. All runs on one thread of the
// library's own, which by default takes turns with the host's, so that one thread of a host finds the same order again.
#pragma once

#include <condition_variable>
#include <thread>

#include "work.h"

class Scheduler {
    std::condition_variable wanted, progress;
    std::vector<const Operation *> targets; // that threads of the host wait for
    std::vector<const Operation *> looked;  // that they only ask about
    unsigned steps = 0; // to be done for no target
    bool runs_freely = false;
    bool holds_downloads = false;
    bool is_started = false, stops = false;
    std::thread thread;

    void loop();
    void start();
    void take_steps(unsigned count);
    bool is_wanted() const;
    std::shared_ptr<Operation> pick();
    void run(const std::shared_ptr<Operation> &operation);

  public:
    ~Scheduler();
    // Runs a piece of work now, with its memory open.
    CUresult perform(const Work &work);
    // Says that an operation was submitted.
    void submitted(Operation &operation);
    // Runs until the operation is done. It is held meanwhile: what was the last of a stream may be so no longer.
    void wait_for(std::shared_ptr<Operation> operation);
    // The host looks whether it is done: some work may run.
    void looked_at(std::shared_ptr<Operation> operation);
    // Runs everything, of a context if one is given, except in streams of these flags.
    void drain(const Context *context, unsigned except_flags = 0);
    // From now on, or no longer, downloads do not run, nor what comes after them.
    void hold_downloads(bool held);
    // Ends the thread; what is submitted stays undone.
    void stop();
    bool is_this_thread() const { return is_started && thread.get_id() == std::this_thread::get_id(); }
    // What the host knows to be done.
    VectorClock host;
};

// Milliseconds of a clock that only goes forward.
double now_ms();
