// Where the time goes, in figures and bars: the whole run, each worker, the critical path, what was copied.

const CAUSES = ["submission", "dependency", "scheduler", "transfer", "end", "unknown"];

/** A bar of parts `{ label, value, color, isIdle, title }`, as wide as their shares of `all`; `width` has room for labels. */
function stack(parts, all, width = 0) {
  const shown = parts.filter((part) => part.value > 0);
  return make(
    "div",
    { class: "stack" },
    shown.map((part) => {
      const share = part.value / all;
      const label = share * width > part.label.length * 8 + 24 ? make("b", null, part.label) : null;
      return make(
        "span",
        {
          class: part.isIdle ? "idle" : inkOn(part.color) === "#ffffff" ? "light" : "dark",
          color: part.color,
          style: `flex:${share} 1 0`,
          title: part.title ?? `${part.label}: ${percent(share)}`,
        },
        label,
      );
    }),
  );
}

/** The heading of a table. */
function head(...names) {
  const cells = names.map((name) => make("th", { scope: "col" }, name));
  return make("thead", null, make("tr", null, cells));
}

/** A row of a table. */
function row(...cells) {
  return make(
    "tr",
    null,
    cells.map((cell) => make("td", null, cell)),
  );
}

class Overview {
  constructor(run, state) {
    Object.assign(this, { run, state });
    this.colors = Object.fromEntries(run.causes.map(({ name, color }) => [name, color]));
    // What nobody can do anything about is as quiet as the page's ground.
    Object.assign(this.colors, { end: "var(--end)", unknown: "var(--unknown)" });
    this.head();
    this.figures();
    this.whole();
    this.workers();
    this.path();
    this.transfers();
    this.energies();
  }

  head() {
    const { about, cut } = this.run;
    byId("program").textContent = about.program;
    const started = new Date(about.started * 1000).toISOString().replace("T", " ").slice(0, 16);
    byId("run").textContent = `on ${about.host}, ${started} UTC, scheduler ${about.scheduler}`;
    const notices = [];
    if (about.virtual) notices.push("Virtual time: the run was simulated");
    if (cut !== null)
      notices.push(
        `Cut short: the file ends after line ${count(cut.line)}${cut.in_the_middle ? ", in the middle of the next" : ""}, before the run does`,
      );
    const [failed] = this.run.tasks.failure.keys();
    if (failed !== undefined)
      notices.push([
        `${plural(this.run.summary.failed, "task")} failed or cancelled: `,
        make(
          "button",
          { type: "button", class: "link", id: "failed", onclick: () => this.state.jump(failed) },
          "the first",
        ),
      ]);
    byId("notices").replaceChildren(...notices.map((parts) => make("span", { class: "notice" }, parts)));
  }

  figures() {
    const { summary } = this.run;
    const copied = summary.transfers.reduce((sum, link) => sum + link.bytes, 0);
    const workers = this.run.workers.filter((worker) => worker.number !== null).length;
    const pairs = [
      ["run", time(this.run.duration), about(summary.is_virtual)],
      ["tasks", count(summary.tasks), summary.tasks === 0 ? "" : `of ${time(this.meanTask())} on average`],
      [
        "workers busy",
        percent(summary.busy_share),
        `of ${plural(workers, "worker")}'${workers === 1 ? "s" : ""} time`,
      ],
      [
        "critical path",
        time(summary.critical_path.length_us * 1000),
        `${percent(summary.critical_path.share)} of the run`,
      ],
      ["copied", copied === 0 ? "nothing" : bytes(copied), copied === 0 ? "" : "between memories"],
    ];
    if (summary.energy !== null) {
      const { joules: value, source, by } = summary.energy.run;
      pairs.push(
        value === null
          ? ["energy", "unavailable", "see below"]
          : ["energy", joules(value), by ?? source],
      );
    }
    function about(isVirtual) {
      return isVirtual ? "of virtual time" : "";
    }
    byId("figures").replaceChildren(
      ...pairs.map(([name, value, more]) =>
        make("div", null, make("dt", null, name), make("dd", null, value, " ", make("small", null, more))),
      ),
    );
    byId("verdict").textContent = summary.verdict;
  }

  meanTask() {
    const { codelets, tasks } = this.run.summary;
    return (codelets.reduce((sum, codelet) => sum + codelet.total_us, 0) / tasks) * 1000;
  }

  /** What workers did: the codelets' parts, then the causes of idle time. Of the host only tasks are counted. */
  parts(workers, total) {
    const busy = new Float64Array(this.run.codelets.length);
    const { tasks } = this.run;
    for (let task = 0; task < tasks.count; task++)
      if (workers === null || workers === tasks.worker[task])
        busy[tasks.codelet[task]] += tasks.duration[task];
    const rows = this.run.summary.workers.filter((_, worker) => workers === null || workers === worker);
    const idle = CAUSES.map((cause) => rows.reduce((sum, row) => sum + row.idle[`${cause}_us`] * 1000, 0));
    const all = total ?? busy.reduce((sum, ns) => sum + ns, 0) + idle.reduce((sum, ns) => sum + ns, 0);
    const told = (label, value) => `${label}: ${time(value)}, ${percent(value / all)}`;
    return {
      all,
      busy: this.run.codelets.map(({ name, color }, i) => ({
        label: name,
        value: busy[i],
        color,
        isIdle: false,
        title: told(name, busy[i]),
      })),
      idle: CAUSES.map((cause, i) => ({
        label: cause,
        value: idle[i],
        color: this.colors[cause],
        isIdle: true,
        title: `${told(`idle: ${cause}`, idle[i])}. ${MEANING[cause]}`,
      })),
    };
  }

  whole() {
    const { busy, idle, all } = this.parts(null);
    const row = byId("whole");
    if (all === 0) return;
    row.replaceChildren(stack([...busy, ...idle], all, row.clientWidth));
    const told = [...busy, ...idle].filter(({ value }) => value > 0).map(({ title }) => title);
    row.setAttribute("aria-label", `The time of all workers. ${told.join("; ")}`);
    const line = (part, what) =>
      make(
        "li",
        null,
        swatch(part.color, part.isIdle),
        what,
        make("span", { class: "quiet" }, time(part.value)),
        make("span", null, percent(part.value / all)),
      );
    const codelets = busy.map((part, codelet) =>
      line(
        part,
        make(
          "span",
          { class: "what" },
          make(
            "button",
            {
              type: "button",
              class: "link",
              "data-codelet": codelet,
              onclick: () => this.state.choose(this.state.codelet === codelet ? null : codelet),
            },
            part.label,
          ),
        ),
      ),
    );
    const causes = idle
      .map((part) => [
        part.value,
        line(
          part,
          make(
            "span",
            { class: "what" },
            part.label,
            make("span", { class: "quiet" }, ` \u00b7 ${MEANING[part.label]}`),
          ),
        ),
      ])
      .filter(([value]) => value > 0)
      .sort((a, b) => b[0] - a[0]);
    const sum = (parts) => percent(parts.reduce((sum, { value }) => sum + value, 0) / all);
    byId("legend").replaceChildren(
      make(
        "div",
        null,
        make("h3", null, `Busy: ${sum(busy)} of the workers' time`),
        make("ul", null, codelets.slice(0, 8)),
        codelets.length > 8
          ? make(
              "p",
              { class: "quiet", style: "margin:4px 0 0 20px" },
              `and ${codelets.length - 8} more codelets, in the table below`,
            )
          : null,
      ),
      make(
        "div",
        null,
        make("h3", null, `Idle: ${sum(idle)}, because \u2026`),
        make(
          "ul",
          null,
          causes.map(([, element]) => element),
        ),
      ),
    );
  }

  workers() {
    const longest = Math.max(this.run.duration, 1);
    const there = [...this.run.workers.keys()].filter((index) => this.run.isShown(index));
    const rows = there.map((index) => {
      const worker = this.run.workers[index];
      const { busy, idle } = this.parts(index, longest);
      const { tasks, busy_us } = this.run.summary.workers[index];
      const bar = stack([...busy, ...idle], longest);
      const told = [...busy, ...idle]
        .filter(({ value }) => value > 0)
        .map(({ title }) => title)
        .join("; ");
      bar.setAttribute("role", "img");
      bar.setAttribute("aria-label", `${worker.name}: ${told || "nothing"}`);
      return make(
        "div",
        { class: "worker" },
        make("span", { title: `${worker.name} (${worker.kind})` }, worker.name),
        bar,
        make("span", null, percent((busy_us * 1000) / longest)),
        make("span", null, plural(tasks, "task")),
      );
    });
    byId("workers").replaceChildren(
      ...(rows.length === 0 ? [make("p", { class: "quiet" }, "The trace has no workers.")] : rows),
    );
  }

  path() {
    const { critical_path: path } = this.run.summary;
    if (path.tasks === 0) return byId("path").replaceChildren(make("p", { class: "quiet" }, "No task ran."));
    const color = (part) => this.run.codelets.find((codelet) => codelet.path === part.path).color;
    const parts = path.codelets.map((part) => ({
      label: part.name,
      value: part.total_us,
      color: color(part),
      detail: plural(part.count, "task"),
    }));
    parts.push({
      label: "waiting for transfers",
      value: path.transfers_us,
      color: this.colors.transfer,
      isIdle: true,
      detail: "",
    });
    const items = parts
      .filter(({ value }) => value > 0)
      .map((part) =>
        make(
          "li",
          null,
          swatch(part.color, part.isIdle),
          part.label,
          make("span", { class: "quiet" }, part.detail),
          make("span", null, time(part.value * 1000)),
        ),
      );
    byId("path").replaceChildren(
      make(
        "p",
        null,
        `The longest chain of tasks that wait for each other has ${plural(path.tasks, "task")} and takes ${time(path.length_us * 1000)}, ${percent(path.share)} of the run. However many workers there are, the run takes no less, unless these tasks get faster.`,
      ),
      stack(parts, path.length_us),
      make("ul", null, items),
      make("button", { type: "button", onclick: () => this.showPath() }, "Show it in the timeline"),
    );
  }

  showPath() {
    this.state.setCritical(true);
    byId("timeline").scrollIntoView({ block: "start" });
  }

  /** What each memory node and counter has used, and where the figure is from. */
  energies() {
    const { energy } = this.run.summary;
    if (energy === null) return;
    const told = ({ source, by, longest_gap_s: gap, reason, remedy }) => {
      if (source === "unavailable") return `unavailable: ${reason}. Remedy: ${remedy}`;
      const samples = gap === undefined ? "" : `, from samples of power at most ${gap.toFixed(3)} s apart`;
      return source === "measured" ? `measured by ${by}${samples}` : source;
    };
    const rows = [...energy.nodes, ...energy.domains].map(({ name, within, energy: used, mean_watts: power }) =>
      row(
        within === null ? name : `${name} (within ${within})`,
        used.joules === null ? "-" : joules(used.joules),
        power === null ? "-" : watts(power),
        told(used),
      ),
    );
    byId("energies").replaceChildren(
      head("energy", "joules", "mean power", "source"),
      make("tbody", null, rows),
    );
  }

  transfers() {
    const { transfers, memory } = this.run.summary;
    byId("transfers").replaceChildren(
      head("transfers", "count", "size", "total time", "mean speed"),
      make(
        "tbody",
        null,
        transfers.map((link) =>
          row(
            `${link.from} to ${link.to}`,
            count(link.count),
            bytes(link.bytes),
            time(link.total_us * 1000),
            link.total_us === 0 ? "-" : `${bytes((link.bytes / link.total_us) * 1e6)}/s`,
          ),
        ),
        transfers.length === 0 ? row("none") : null,
      ),
    );
    byId("peaks").replaceChildren(
      head("memory", "at most", "first at"),
      make(
        "tbody",
        null,
        memory.map((peak) => row(peak.node, bytes(peak.peak_bytes), this.run.instant(peak.at_us * 1000))),
        memory.length === 0 ? row("nothing recorded") : null,
      ),
    );
  }
}
