#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <sstream>

#include "driver.h"

static size_t in_pages(size_t bytes) { return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES; }

static void protect(const Allocation &allocation, int protection) {
    if (mprotect(reinterpret_cast<void *>(allocation.start), allocation.mapped_bytes, protection) != 0) {
        perror("fake CUDA: mprotect");
        abort();
    }
}

std::string Allocation::name() const {
    std::ostringstream text;
    text << bytes << " bytes of " << (is_device() ? "device " + std::to_string(device) : "pinned memory") << " at 0x" << std::hex << start;
    return text.str();
}

Memory::Memory(int devices) : used(size_t(devices), 0) {
    for (int device = 0; device < devices; device++) {
        uint64_t start = FIRST_ADDRESS + uint64_t(device) * DEVICE_ADDRESSES;
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
        void *got = mmap(reinterpret_cast<void *>(start), DEVICE_ADDRESSES, PROT_NONE, flags, -1, 0);
        if (got != reinterpret_cast<void *>(start)) {
            perror("fake CUDA: no room for the addresses of a device");
            abort();
        }
        next.push_back(start);
    }
}

Memory::~Memory() {
    auto all = by_start; // what is released is erased
    for (auto &[start, allocation] : all) {
        if (allocation->place == Place::Pinned || allocation->place == Place::Managed) release(allocation);
    }
    for (size_t device = 0; device < next.size(); device++) {
        munmap(reinterpret_cast<void *>(FIRST_ADDRESS + device * DEVICE_ADDRESSES), DEVICE_ADDRESSES);
    }
}

AllocationRef Memory::allocate(int device, size_t bytes, Pool *pool, Context *context) {
    size_t index = size_t(device);
    if (bytes > driver().settings.memory_bytes - used[index]) return nullptr;
    auto made = std::make_shared<Allocation>();
    made->start = next[index];
    made->bytes = bytes;
    made->mapped_bytes = in_pages(bytes);
    made->place = Place::Device;
    made->device = device;
    made->pool = pool;
    made->context = context;
    made->counted = true;
    used[index] += bytes;
    if (pool) pool->used += bytes;
    // Addresses are not used again, so that those that were freed are known. A page is left between.
    next[index] += made->mapped_bytes + PAGE_BYTES;
    if (next[index] > FIRST_ADDRESS + (index + 1) * DEVICE_ADDRESSES) {
        fprintf(stderr, "fake CUDA: device %d has no addresses left\n", device);
        abort();
    }
    protect(*made, PROT_READ | PROT_WRITE);
    memset(reinterpret_cast<void *>(made->start), 0xFF, made->mapped_bytes);
    protect(*made, PROT_NONE);
    by_start[made->start] = made;
    return made;
}

AllocationRef Memory::allocate_host(size_t bytes, Place place, int device, Context *context) {
    auto made = std::make_shared<Allocation>();
    made->bytes = bytes;
    made->mapped_bytes = in_pages(bytes);
    made->place = place;
    made->device = device;
    made->context = context;
    void *start = mmap(nullptr, made->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    memset(start, 0xFF, made->mapped_bytes);
    made->start = reinterpret_cast<uint64_t>(start);
    by_start[made->start] = made;
    return made;
}

AllocationRef Memory::register_host(void *start, size_t bytes, int device, Context *context) {
    auto made = std::make_shared<Allocation>();
    made->start = reinterpret_cast<uint64_t>(start);
    made->bytes = made->mapped_bytes = bytes;
    made->place = Place::Registered;
    made->device = device;
    made->context = context;
    by_start[made->start] = made;
    return made;
}

void Memory::uncount(Allocation &allocation) {
    if (!allocation.counted) return;
    allocation.counted = false;
    used[size_t(allocation.device)] -= allocation.bytes;
    if (allocation.pool) allocation.pool->used -= allocation.bytes;
}

void Memory::release(const AllocationRef &allocation) {
    allocation->freed = true;
    uncount(*allocation);
    if (allocation->released) return;
    allocation->released = true;
    allocation->past.clear();
    void *start = reinterpret_cast<void *>(allocation->start);
    if (allocation->is_device()) {
        // As it was at first, so that the system keeps one range of all that is not in use.
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
        mmap(start, allocation->mapped_bytes, PROT_NONE, flags, -1, 0);
        allocation->initialised = Bytes();
    } else {
        if (allocation->place != Place::Registered) munmap(start, allocation->mapped_bytes);
        // The host gets such addresses again.
        auto found = by_start.find(allocation->start);
        if (found != by_start.end() && found->second == allocation) by_start.erase(found);
    }
}

void Memory::release_all(Context *context) {
    std::vector<AllocationRef> all;
    for (auto &[start, allocation] : by_start) {
        if (allocation->context == context && !allocation->released) all.push_back(allocation);
    }
    for (const auto &allocation : all) {
        release(allocation);
    }
}

AllocationRef Memory::find(uint64_t address) const {
    auto next = by_start.upper_bound(address);
    if (next == by_start.begin()) return nullptr;
    const auto &found = std::prev(next)->second;
    // One of no bytes has its first address.
    return address < std::max(found->end(), found->start + 1) ? found : nullptr;
}

std::string Memory::about(uint64_t address) const {
    std::ostringstream text;
    text << "0x" << std::hex << address << std::dec << ", which is ";
    if (auto found = find(address)) {
        text << "in " << found->name() << (found->freed ? ", which was freed" : "");
    } else if (is_device_address(address)) {
        text << "an address of device " << (address - FIRST_ADDRESS) / DEVICE_ADDRESSES;
        auto next = by_start.upper_bound(address);
        auto before = next == by_start.begin() ? nullptr : std::prev(next)->second;
        if (before && address < before->start + before->mapped_bytes + PAGE_BYTES) {
            text << ", " << address - before->end() << " bytes past the end of " << before->name();
        } else {
            text << " that no allocation has";
        }
    } else {
        text << "memory of the host that no device sees";
    }
    return text.str();
}

std::string Memory::left() const {
    std::string text;
    for (const auto &[start, allocation] : by_start) {
        if (!allocation->freed) text += "not freed: " + allocation->name() + "\n";
    }
    return text;
}

bool is_device_address(uint64_t address) {
    return address >= FIRST_ADDRESS && address < FIRST_ADDRESS + uint64_t(driver().settings.devices) * DEVICE_ADDRESSES;
}

Opened::Opened(const std::vector<Access> &accesses) {
    for (const Access &access : accesses) {
        if (!access.allocation->is_device() || access.allocation->released) continue;
        if (std::find(allocations.begin(), allocations.end(), access.allocation) != allocations.end()) continue;
        allocations.push_back(access.allocation);
        protect(*access.allocation, PROT_READ | PROT_WRITE);
    }
}

Opened::~Opened() {
    for (const auto &allocation : allocations) protect(*allocation, PROT_NONE);
}

AllocationRef overwritten(const std::vector<Access> &accesses) {
    for (const Access &access : accesses) {
        const Allocation &allocation = *access.allocation;
        if (access.mode == Mode::Read || allocation.place == Place::Registered || allocation.released) continue;
        for (uint64_t at = allocation.end(); at < allocation.start + allocation.mapped_bytes; at++) {
            if (*reinterpret_cast<unsigned char *>(at) != 0xFF) return access.allocation;
        }
    }
    return nullptr;
}
