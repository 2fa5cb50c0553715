// The bytes that an operation accesses: a box of rows with strides, as in a view of an array; and sets of bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <vector>

// The range `start..end`.
struct Interval {
    uint64_t start, end;
};

// Runs of `run` bytes, nested in dimensions of `counts[i]` items that are `strides[i]` bytes apart. Strides grow, and
// are positive.
struct Box {
    uint64_t start = 0;
    uint64_t run = 0;
    std::vector<uint64_t> counts, strides;

    static Box bytes(uint64_t start, uint64_t count) { return {start, count, {}, {}}; }
    // Elements of `element_bytes`, with strides in bytes of any sign.
    static Box of(uint64_t first, uint64_t element_bytes, int rank, const uint64_t *extents, const int64_t *strides);

    bool is_empty() const { return run == 0; }
    bool is_contiguous() const { return counts.empty(); }
    Interval hull() const;
    uint64_t intervals() const;
    // All intervals, in order; the hull if there are more than `LIMIT`.
    std::vector<Interval> each() const;
    bool overlaps(const Box &other) const;

    static constexpr uint64_t LIMIT = 1 << 16;
};

// A set of bytes.
class Bytes {
    std::map<uint64_t, uint64_t> ends; // by starts, apart from each other

  public:
    void add(Interval interval);
    void remove(Interval interval);
    // The first byte of an interval that is not in the set; its end if all are.
    uint64_t first_missing(Interval interval) const;
    // The parts of an interval that are in the set.
    std::vector<Interval> within(Interval interval) const;
};
