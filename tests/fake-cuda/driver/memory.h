// Memory of devices, and memory of the host that devices can access.
//
// The addresses of each device are in a range of its own, which is accessible only to work that names the allocation,
// and only while it runs: any other access ends the process with a message. New memory is all ones, NaN in every type
// of float.
#pragma once

#include <map>
#include <memory>

#include "work.h"

enum class Place { Device, Pinned, Registered, Managed };

// An earlier access to an allocation, with which later ones are compared.
struct Past {
    Access access;
    std::shared_ptr<Operation> operation;
};

struct Allocation {
    uint64_t start;
    size_t bytes, mapped_bytes;
    Place place;
    int device; // of the context in which it was made
    Pool *pool = nullptr;
    Context *context = nullptr;
    bool freed = false;    // or to be freed by an operation that was submitted
    bool released = false; // its pages are given back
    bool counted = false;  // as used
    Bytes initialised;
    std::vector<Past> past;

    uint64_t end() const { return start + bytes; }
    bool is_device() const { return place == Place::Device; }
    // "1024 bytes of device 0 at 0x300000000000"
    std::string name() const;
};
using AllocationRef = std::shared_ptr<Allocation>;

constexpr size_t PAGE_BYTES = 4096;
// The addresses of device `d` begin at `FIRST_ADDRESS + d * DEVICE_ADDRESSES`.
constexpr uint64_t FIRST_ADDRESS = 0x300000000000, DEVICE_ADDRESSES = uint64_t(1) << 40;

class Memory {
    std::map<uint64_t, AllocationRef> by_start; // with some of those that were freed
    std::vector<uint64_t> next;                 // free address of each device
    std::vector<size_t> used;                   // bytes of each device

  public:
    explicit Memory(int devices);
    ~Memory();

    // Allocates memory of a device; null if it has not as much.
    AllocationRef allocate(int device, size_t bytes, Pool *pool, Context *context);
    AllocationRef allocate_host(size_t bytes, Place place, int device, Context *context);
    AllocationRef register_host(void *start, size_t bytes, int device, Context *context);
    // Frees the pages. The record of the allocation stays, for messages.
    void release(const AllocationRef &allocation);
    // The allocation no longer counts as used, though its pages may stay for earlier work.
    void uncount(Allocation &allocation);
    size_t used_bytes(int device) const { return used[size_t(device)]; }
    void release_all(Context *context);

    // The allocation that contains this address, even if it was freed; null if there is none.
    AllocationRef find(uint64_t address) const;
    // A description of an address, for messages.
    std::string about(uint64_t address) const;
    std::string left() const;
};

// Whether an address is in the range of a device, allocated or not.
bool is_device_address(uint64_t address);

// Makes memory accessible as long as this object lives.
class Opened {
    std::vector<AllocationRef> allocations;

  public:
    explicit Opened(const std::vector<Access> &accesses);
    ~Opened();
    Opened(const Opened &) = delete;
};

// The first allocation that was written past its end; null if there is none.
AllocationRef overwritten(const std::vector<Access> &accesses);
