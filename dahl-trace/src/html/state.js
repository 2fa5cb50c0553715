// What the user has chosen to see: the window of time, a task, a codelet, a search, the critical path.

/** The shortest window, in nanoseconds. */
const SHORTEST = 20;

class State {
  constructor(run) {
    this.run = run;
    this.whole = Math.max(run.duration, 1);
    this.from = 0;
    this.to = this.whole;
    this.selected = null;
    this.codelet = null;
    this.search = "";
    this.critical = false;
    this.matching = null;
    this.listeners = [];
  }

  /** Calls `listener` with what has changed: `window`, `selected`, `matching` or `critical`. */
  listen(listener) {
    this.listeners.push(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  show(from, to) {
    const length = Math.min(Math.max(to - from, Math.min(SHORTEST, this.whole)), this.whole);
    this.from = Math.min(Math.max(from, 0), this.whole - length);
    this.to = this.from + length;
    this.tell("window");
  }

  /** Makes the window `factor` times as long, around a time that stays where it is. */
  zoom(factor, around = (this.from + this.to) / 2) {
    const length = Math.min(Math.max((this.to - this.from) * factor, SHORTEST), this.whole);
    const share = (around - this.from) / (this.to - this.from);
    this.show(around - share * length, around + (1 - share) * length);
  }

  /** Moves the window by a share of its length. */
  move(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  select(task) {
    this.selected = task;
    this.tell("selected");
  }

  /** Selects a task and brings it into the window, and larger if it could hardly be seen. */
  jump(task) {
    const { start, duration } = this.run.tasks;
    const length = Math.min(this.to - this.from, Math.max(duration[task] * 60, SHORTEST));
    const middle = start[task] + duration[task] / 2;
    const isInside = start[task] >= this.from && this.run.end(task) <= this.to;
    if (!isInside || length < this.to - this.from) this.show(middle - length / 2, middle + length / 2);
    this.select(task);
  }

  /** Shows a task and a little around it. */
  zoomTo(task) {
    const { start, duration } = this.run.tasks;
    const around = Math.max(duration[task], 1);
    this.show(start[task] - around, start[task] + duration[task] + around);
  }

  /** Picks out the tasks of a codelet, or of all with null. */
  choose(codelet) {
    this.codelet = codelet;
    this.match();
  }

  seek(search) {
    this.search = search.trim();
    this.match();
  }

  setCritical(critical) {
    this.critical = critical;
    this.tell("critical");
  }

  /** Finds the tasks that are of the codelet and that the search finds. */
  match() {
    const { codelet, run } = this;
    const finds = this.search === "" ? null : finder(run, this.search);
    this.matching = codelet === null && finds === null ? null : new Uint8Array(run.tasks.count);
    this.matches = this.matching === null ? run.tasks.count : 0;
    for (let task = 0; this.matching !== null && task < run.tasks.count; task++) {
      if ((codelet === null || run.tasks.codelet[task] === codelet) && (finds === null || finds(task))) {
        this.matching[task] = 1;
        this.matches++;
      }
    }
    this.tell("matching");
  }

  /** Whether a task stands out. */
  stands(task) {
    return (
      (this.matching === null || this.matching[task] === 1) && (!this.critical || this.run.onPath[task] === 1)
    );
  }

  /** The next task that stands out after the one selected, in the order of submission. */
  next() {
    const { count } = this.run.tasks;
    const from = this.selected ?? -1;
    for (let step = 1; step <= count; step++) {
      const task = (from + step) % count;
      if (this.stands(task)) return task;
    }
    return null;
  }
}

/** A function that says whether a task has the text somewhere: each text is looked at once. */
function finder(run, search) {
  const text = search.toLowerCase();
  if (/^#\d+$/.test(text)) return (task) => run.tasks.number[task] === Number(text.slice(1));
  const has = run.texts.map((other) => other.toLowerCase().includes(text));
  const codelets = run.codelets.map(
    (codelet) => codelet.path.toLowerCase().includes(text) || codelet.name.toLowerCase().includes(text),
  );
  const { tasks } = run;
  return (task) =>
    codelets[tasks.codelet[task]] ||
    has[tasks.at[task]] ||
    has[tasks.kernel[task] - 1] ||
    has[tasks.name.get(task)] ||
    has[tasks.failure.get(task)] ||
    false;
}
