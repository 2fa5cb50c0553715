// The task that is selected: all that is known of it, what it waited for, and the tasks before and after it.

/** How many neighbours are listed. */
const LISTED = 12;

class Panel {
  constructor(run, state) {
    Object.assign(this, { run, state, element: byId("panel") });
  }

  draw() {
    const task = this.state.selected;
    this.element.replaceChildren(...(task === null ? this.nothing() : this.task(task)));
    this.element.scrollTop = 0;
    byId("said").textContent = task === null ? "" : this.sentence(task);
  }

  /** The task in one sentence, for those who hear the page. */
  sentence(task) {
    const { run } = this;
    const { tasks } = run;
    return `${run.codelet(task).name}, task ${tasks.number[task]}, on ${run.workers[tasks.worker[task]].name}: took ${time(tasks.duration[task])}, waited for ${plural(run.before(task).length, "task")}`;
  }

  nothing() {
    if (this.run.tasks.count === 0) return [make("p", { class: "quiet" }, "There is no task to select.")];
    const longest = this.longest();
    return [
      make("h3", null, "No task selected"),
      make(
        "p",
        { class: "quiet" },
        "Click a task to see what it waited for, which tasks it depends on, and which depend on it.",
      ),
      make("h4", null, "The longest tasks"),
      this.tasks(longest),
    ];
  }

  longest() {
    const { duration, count } = this.run.tasks;
    const best = [];
    for (let task = 0; task < count; task++) {
      if (best.length === 8 && duration[task] <= duration[best[7]]) continue;
      best.push(task);
      best.sort((a, b) => duration[b] - duration[a]);
      best.length = Math.min(best.length, 8);
    }
    return best;
  }

  task(task) {
    const { run, state } = this;
    const { name, path, color } = run.codelet(task);
    const failure = run.failure(task);
    const place = run.onPath[task] === 1 ? " \u00b7 on the critical path" : "";
    return [
      make("h3", null, swatch(color), `${name} #${run.tasks.number[task]}`),
      make("div", { class: "quiet" }, path + place),
      failure === null ? null : make("p", { class: "failure" }, failure),
      list(facts(run, task)),
      ...this.life(task),
      ...this.neighbours("Waited for", run.before(task), "It depends on no task in the trace."),
      ...this.neighbours("Waited for by", run.after(task), "No task in the trace depends on it."),
      make(
        "div",
        { class: "actions" },
        make("button", { type: "button", onclick: () => state.zoomTo(task) }, "Zoom to it"),
        make("button", { type: "button", onclick: () => state.select(null) }, "Close"),
      ),
    ].filter((part) => part !== null);
  }

  /** From its submission to its end. */
  life(task) {
    const { tasks, causes } = this.run;
    const color = (cause) => causes.find(({ name }) => name === cause).color;
    const steps = [
      ["waited for others", tasks.ready[task] - tasks.submitted[task], color("dependency")],
      ["waited for a worker", tasks.taken[task] - tasks.ready[task], color("scheduler")],
      ["waited for data", tasks.start[task] - tasks.taken[task], color("transfer")],
      ["ran", tasks.duration[task], this.run.codelet(task).color],
    ];
    const all = steps.reduce((sum, [, ns]) => sum + Math.max(ns, 0), 0);
    return [
      make("h4", null, `Its life: ${time(all)} from submission to end`),
      make(
        "div",
        { class: "span", "aria-hidden": true },
        steps
          .filter(([, ns]) => ns > 0)
          .map(([, ns, color]) => make("span", { color, style: `flex:${ns / all} 0 0` })),
      ),
      list([
        ["submitted", this.run.instant(tasks.submitted[task])],
        ...steps.map(([what, ns]) => [what, time(ns)]),
        ["ended", this.run.instant(this.run.end(task))],
      ]),
    ];
  }

  neighbours(title, tasks, none) {
    if (tasks.length === 0)
      return [make("h4", null, title), make("p", { class: "quiet", style: "margin:0" }, none)];
    const more = tasks.length - LISTED;
    return [
      make("h4", null, `${title} ${plural(tasks.length, "task")}`),
      this.tasks([...tasks.slice(0, LISTED)]),
      more > 0 ? make("p", { class: "quiet", style: "margin:2px 0 0" }, `and ${count(more)} more`) : null,
    ].filter((part) => part !== null);
  }

  /** Links to tasks. */
  tasks(tasks) {
    const { run, state } = this;
    return make(
      "ul",
      null,
      tasks.map((task) => {
        const { name, color } = run.codelet(task);
        const number = run.tasks.number[task];
        return make(
          "li",
          null,
          swatch(color),
          make(
            "button",
            { type: "button", class: "link", "data-task": number, onclick: () => state.jump(task) },
            `${name} #${number}`,
          ),
          make("span", { class: "quiet" }, time(run.tasks.duration[task])),
        );
      }),
    );
  }
}
