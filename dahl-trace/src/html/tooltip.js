// What is known of whatever the pointer is over.

/** Why workers are idle, in a sentence each. */
const MEANING = {
  submission: "The next task had not been submitted yet.",
  dependency: "The next task waited for others to end.",
  scheduler: "The next task was ready, and not taken yet: scheduling, and the runtime's own work.",
  transfer: "The next task's data were on their way.",
  end: "There was no further task for this worker.",
  unknown: "The trace does not say: gaps of less than 1 us between tasks, or a file that is cut short.",
};

/** What is known of a task, as pairs of a name and a text. */
function facts(run, task) {
  const { tasks } = run;
  const predicted = tasks.predicted[task],
    took = tasks.duration[task];
  const error =
    predicted === null || took === 0 || predicted === took
      ? ""
      : ` (${predicted >= took ? "+" : "\u2212"}${percent(Math.abs(predicted - took) / took)})`;
  const all = [
    ["took", time(took)],
    ["predicted", predicted === null ? "not known" : time(predicted) + error],
    ["worker", run.workers[tasks.worker[task]].name],
    ["kernel", run.kernel(task) ?? "none ran"],
    ["parameters", run.texts[tasks.parameters[task]]],
    ["arrays", run.arrays(task).join(", ")],
    ["name", run.name(task)],
    ["submitted at", run.texts[tasks.at[task]]],
    ["priority", tasks.priority.has(task) ? String(tasks.priority.get(task)) : null],
    ["helped by", tasks.team.has(task) ? "idle workers" : null],
  ];
  return all.filter(([, text]) => text !== null && text !== "");
}

function list(pairs) {
  return make(
    "dl",
    null,
    pairs.map(([name, text]) => [make("dt", null, name), make("dd", null, text)]),
  );
}

class Tooltip {
  constructor(run) {
    Object.assign(this, { run, element: byId("tooltip") });
  }

  hide() {
    this.element.hidden = true;
  }

  show(found, x, y) {
    if (found === null) return this.hide();
    this.element.replaceChildren(...this.content(found));
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
    const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
    this.element.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  }

  content({ task, idle, transfer, level }) {
    const { run } = this;
    const title = (...children) => make("strong", null, ...children);
    if (task !== undefined) {
      const { name, color } = run.codelet(task);
      const failure = run.failure(task);
      const pairs = [
        ["began", this.run.instant(run.tasks.start[task])],
        ...facts(run, task),
        ...(failure === null ? [] : [["failed", failure]]),
      ];
      return [title(swatch(color), `${name} #${run.tasks.number[task]}`), list(pairs)];
    }
    if (idle !== undefined) {
      const { name } = run.causes[run.idle.cause[idle]];
      const color = name === "end" ? "var(--end)" : run.causes[run.idle.cause[idle]].color;
      const next = run.idle.before[idle] - 1;
      const then = next < 0 ? [] : [["then", `${run.codelet(next).name} #${run.tasks.number[next]}`]];
      return [
        title(swatch(color, true), `idle: ${name}`),
        make("div", { class: "quiet" }, MEANING[name]),
        list([["for", time(run.idle.duration[idle])], ...then]),
      ];
    }
    if (transfer !== undefined) {
      const { transfers } = run;
      const link = run.links[transfers.link[transfer]];
      const took = transfers.duration[transfer],
        size = transfers.bytes[transfer];
      const speed = took === 0 ? "" : `, ${bytes((size / took) * 1e9)}/s`;
      const pairs = [
        ["from", run.nodeName(link.from)],
        ["to", run.nodeName(link.to)],
        ["size", bytes(size)],
        ["took", time(took) + speed],
        ["array", String(transfers.array[transfer])],
      ];
      return [title(`transfer: ${run.texts[transfers.name[transfer]]}`), list(pairs)];
    }
    return [
      title(level.name),
      list([
        [level.what, level.value],
        ["at", this.run.instant(level.moment)],
        ["at most", level.peak],
      ]),
    ];
  }
}
