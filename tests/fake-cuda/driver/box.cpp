#include "box.h"

#include <algorithm>

Box Box::of(uint64_t first, uint64_t element_bytes, int rank, const uint64_t *extents, const int64_t *strides) {
    Box box = Box::bytes(first, element_bytes);
    std::vector<std::pair<uint64_t, uint64_t>> axes; // strides and extents
    for (int axis = 0; axis < rank; axis++) {
        if (extents[axis] == 0) return {};
        if (extents[axis] == 1 || strides[axis] == 0) continue;
        uint64_t stride = uint64_t(strides[axis] < 0 ? -strides[axis] : strides[axis]);
        if (strides[axis] < 0) box.start -= stride * (extents[axis] - 1);
        axes.emplace_back(stride, extents[axis]);
    }
    std::sort(axes.begin(), axes.end());
    for (auto [stride, extent] : axes) {
        if (box.counts.empty() && stride <= box.run) {
            box.run += stride * (extent - 1);
        } else if (!box.counts.empty() && stride == box.strides.back() * box.counts.back()) {
            box.counts.back() *= extent;
        } else {
            box.counts.push_back(extent);
            box.strides.push_back(stride);
        }
    }
    return box;
}

Interval Box::hull() const {
    uint64_t end = start + run;
    for (size_t i = 0; i < counts.size(); i++) end += (counts[i] - 1) * strides[i];
    return {start, end};
}

uint64_t Box::intervals() const {
    uint64_t count = run > 0;
    for (uint64_t extent : counts) count *= extent;
    return count;
}

std::vector<Interval> Box::each() const {
    if (is_empty()) return {};
    if (intervals() > LIMIT) return {hull()};
    std::vector<Interval> intervals = {{start, start + run}};
    for (size_t i = 0; i < counts.size(); i++) {
        size_t inside = intervals.size();
        for (uint64_t index = 1; index < counts[i]; index++) {
            for (size_t j = 0; j < inside; j++) {
                uint64_t by = index * strides[i];
                intervals.push_back({intervals[j].start + by, intervals[j].end + by});
            }
        }
    }
    auto is_before = [](const Interval &a, const Interval &b) { return a.start < b.start; };
    std::sort(intervals.begin(), intervals.end(), is_before);
    return intervals;
}

bool Box::overlaps(const Box &other) const {
    if (is_empty() || other.is_empty()) return false;
    Interval a = hull(), b = other.hull();
    if (a.end <= b.start || b.end <= a.start) return false;
    if (is_contiguous() && other.is_contiguous()) return true;
    // Boxes of very many runs count as apart: nothing is said of which it is not certain.
    if (intervals() > LIMIT || other.intervals() > LIMIT) return false;
    auto mine = each(), others = other.each();
    for (size_t i = 0, j = 0; i < mine.size() && j < others.size();) {
        if (mine[i].end <= others[j].start) {
            i++;
        } else if (others[j].end <= mine[i].start) {
            j++;
        } else {
            return true;
        }
    }
    return false;
}

void Bytes::add(Interval interval) {
    if (interval.start >= interval.end) return;
    auto next = ends.upper_bound(interval.start);
    if (next != ends.begin() && std::prev(next)->second >= interval.start) next = std::prev(next);
    while (next != ends.end() && next->first <= interval.end) {
        interval.start = std::min(interval.start, next->first);
        interval.end = std::max(interval.end, next->second);
        next = ends.erase(next);
    }
    ends[interval.start] = interval.end;
}

void Bytes::remove(Interval interval) {
    for (Interval part : within(interval)) {
        auto found = std::prev(ends.upper_bound(part.start));
        Interval whole = {found->first, found->second};
        ends.erase(found);
        if (whole.start < part.start) ends[whole.start] = part.start;
        if (part.end < whole.end) ends[part.end] = whole.end;
    }
}

uint64_t Bytes::first_missing(Interval interval) const {
    auto next = ends.upper_bound(interval.start);
    if (next == ends.begin()) return interval.start < interval.end ? interval.start : interval.end;
    uint64_t end = std::prev(next)->second;
    return std::max(interval.start, std::min(end, interval.end));
}

std::vector<Interval> Bytes::within(Interval interval) const {
    std::vector<Interval> parts;
    auto next = ends.upper_bound(interval.start);
    if (next != ends.begin()) next = std::prev(next);
    for (; next != ends.end() && next->first < interval.end; ++next) {
        Interval part = {std::max(next->first, interval.start), std::min(next->second, interval.end)};
        if (part.start < part.end) parts.push_back(part);
    }
    return parts;
}
