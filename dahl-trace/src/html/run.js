// The run: the page's columns (`columns.rs`) as arrays of times in nanoseconds.

/** Each the sum of all before it. */
function summed(steps) {
  const values = new Float64Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; i++) values[i] = sum += steps[i];
  return values;
}

function added(base, steps) {
  return Float64Array.from(steps, (step, i) => base[i] + step);
}

/** Where the part of each begins, and at last where all end. */
function starts(counts) {
  const values = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) values[i + 1] = values[i] + counts[i];
  return values;
}

/** Things that took time, in the order in which they began. */
class Spans {
  constructor(start, duration, members) {
    this.start = start;
    this.duration = duration;
    this.members = members.sort((a, b) => start[a] - start[b]);
    // The end of whatever has begun so far: grows, so that it can be searched.
    this.reach = new Float64Array(members.length);
    let reach = 0;
    for (let i = 0; i < members.length; i++) this.reach[i] = reach = Math.max(reach, this.end(members[i]));
  }

  end(member) {
    return this.start[member] + this.duration[member];
  }

  /** The first place whose member may not have ended at `time`. */
  first(time) {
    let low = 0,
      high = this.members.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.reach[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Calls `visit` with each member that is there at some time from `from` to `to`. */
  within(from, to, visit) {
    for (let place = this.first(from); place < this.members.length; place++) {
      const member = this.members[place];
      if (this.start[member] > to) break;
      if (this.end(member) >= from) visit(member);
    }
  }
}

class Run {
  constructor(page) {
    for (const name of [
      "about",
      "cut",
      "summary",
      "nodes",
      "workers",
      "links",
      "codelets",
      "causes",
      "texts",
      "path",
    ])
      this[name] = page[name];
    this.duration = page.duration;
    this.readTasks(page.tasks);
    const { idle, transfers, memory, power } = page;
    this.idle = { ...idle, start: summed(idle.start) };
    this.transfers = { ...transfers, start: summed(transfers.start) };
    this.memory = { ...memory, at: summed(memory.at) };
    this.power = { ...power, at: summed(power.at) };
    this.onPath = new Uint8Array(this.tasks.count);
    for (const task of page.path) this.onPath[task] = 1;
    this.byWorker = this.spans(this.workers, this.tasks.worker, this.tasks);
    this.idleByWorker = this.spans(this.workers, idle.worker, this.idle);
    this.byLink = this.spans(this.links, transfers.link, this.transfers);
  }

  readTasks(columns) {
    const submitted = summed(columns.submitted);
    const ready = added(submitted, columns.ready);
    const taken = added(ready, columns.taken);
    const start = added(taken, columns.start);
    this.tasks = {
      count: columns.number.length,
      number: summed(columns.number),
      codelet: Uint32Array.from(columns.codelet),
      worker: Uint32Array.from(columns.worker),
      submitted,
      ready,
      taken,
      start,
      duration: Float64Array.from(columns.duration),
      predicted: columns.predicted.map((less, i) => (less === null ? null : columns.duration[i] + less)),
      kernel: columns.kernel,
      parameters: columns.parameters,
      at: columns.at,
      modes: columns.modes,
      arrays: columns.arrays,
      firstArray: starts(columns.modes.map((modes) => this.modes(modes).length)),
      name: new Map(columns.name),
      failure: new Map(columns.failure),
      priority: new Map(columns.priority),
      team: new Set(columns.team),
    };
    this.places = new Map();
    for (let i = 0; i < this.tasks.count; i++) this.places.set(this.tasks.number[i], i);
    this.readEdges(columns);
  }

  readEdges(columns) {
    const { count } = this.tasks;
    const firstBefore = starts(columns.before);
    const before = new Uint32Array(columns.back.length);
    const counts = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      for (let edge = firstBefore[i]; edge < firstBefore[i + 1]; edge++)
        counts[(before[edge] = i - columns.back[edge])]++;
    }
    const firstAfter = starts(counts);
    const next = firstAfter.slice();
    const after = new Uint32Array(before.length);
    for (let i = 0; i < count; i++) {
      for (let edge = firstBefore[i]; edge < firstBefore[i + 1]; edge++) after[next[before[edge]]++] = i;
    }
    this.before = (task) => before.subarray(firstBefore[task], firstBefore[task + 1]);
    this.after = (task) => after.subarray(firstAfter[task], firstAfter[task + 1]);
  }

  /** The members of each place, by time. */
  spans(places, placeOf, columns) {
    const members = places.map(() => []);
    for (let i = 0; i < placeOf.length; i++) members[placeOf[i]].push(i);
    return members.map((list) => new Spans(columns.start, columns.duration, list));
  }

  modes(place) {
    return this.texts[place] === "" ? [] : this.texts[place].split(" ");
  }

  /** A time as exactly as six digits of the whole run are. */
  instant(ns) {
    return ns === 0
      ? "0"
      : moment(ns, Math.max(1, 10 ** (Math.floor(Math.log10(Math.max(this.duration, 1))) - 5)));
  }

  /** Whether a worker has a row: the host has one if it helped. */
  isShown(worker) {
    return this.workers[worker].number !== null || this.byWorker[worker].members.length > 0;
  }

  end(task) {
    return this.tasks.start[task] + this.tasks.duration[task];
  }

  codelet(task) {
    return this.codelets[this.tasks.codelet[task]];
  }

  kernel(task) {
    const place = this.tasks.kernel[task];
    return place === 0 ? null : this.texts[place - 1];
  }

  name(task) {
    return this.tasks.name.has(task) ? this.texts[this.tasks.name.get(task)] : null;
  }

  failure(task) {
    return this.tasks.failure.has(task) ? this.texts[this.tasks.failure.get(task)] : null;
  }

  /** The arrays of a task, each with its mode. */
  arrays(task) {
    const first = this.tasks.firstArray[task];
    return this.modes(this.tasks.modes[task]).map((mode, i) => `${this.tasks.arrays[first + i]} ${mode}`);
  }

  nodeName(number) {
    return this.nodes.find((node) => node.number === number)?.name ?? `memory node ${number}`;
  }

  /** The task that its worker ran before or after it. */
  beside(task, step) {
    const { members } = this.byWorker[this.tasks.worker[task]];
    return members[members.indexOf(task) + step];
  }
}
