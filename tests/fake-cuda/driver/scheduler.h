// When work runs, and in which order: any that streams and events permit, drawn by the seed.
//
// Seed 0 runs each operation as soon as it is submitted, in that order. Seed 1 runs it as late as possible: when the
// host waits for it, and only its predecessors with it. Other seeds run a random operation that may run at random
// times. All run on one thread of the library, which by default alternates with the host's, so that runs with a single
// host thread are reproducible.
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
    // Runs a piece of work now, with its memory accessible.
    CUresult perform(const Work &work);
    // Called when an operation was submitted.
    void submitted(Operation &operation);
    // Runs until the operation is done. The pointer keeps it alive meanwhile: it may no longer be the last of its
    // stream.
    void wait_for(std::shared_ptr<Operation> operation);
    // The host queries whether it is done: some work may run.
    void looked_at(std::shared_ptr<Operation> operation);
    // Runs everything, of a context if one is given, except in streams with these flags.
    void drain(const Context *context, unsigned except_flags = 0);
    // Whether downloads are held back from now on, with all work after them.
    void hold_downloads(bool held);
    // Ends the thread; submitted work is not done.
    void stop();
    bool is_this_thread() const { return is_started && thread.get_id() == std::this_thread::get_id(); }
    // The operations that the host knows to be done.
    VectorClock host;
};

// Milliseconds of a monotonic clock.
double now_ms();
