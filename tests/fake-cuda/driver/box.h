// The bytes that an operation touches: a box of rows with strides, as a view of an array has them; and sets of bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <vector>

// From `start` up to `end`.
struct Interval {
    uint64_t start, end;
};

// Runs of `run` bytes; `counts[i]` of what is inside, `strides[i]` bytes apart. Strides grow, and are positive.
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
    // All of them, in order; the hull if there are more than `LIMIT`.
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
    // What of an interval is in the set.
    std::vector<Interval> within(Interval interval) const;
};
