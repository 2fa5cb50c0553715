// The timeline: a row for each worker, by memory node, and for what is copied to it; the axis above.

/** How high what is not a worker's row is, in pixels. */
const NODE = 26,
  LINK = 15,
  GAP = 5;
/** How strongly tasks are drawn that do not stand out. */
const DIM = 0.13;
/** Of how many neighbours the arrows are drawn. */
const ARROWS = 150;

/** From times to pixels and back. */
class View {
  constructor(state, width) {
    this.from = state.from;
    this.to = state.to;
    this.width = width;
    this.scale = width / (state.to - state.from);
  }

  x(time) {
    return (time - this.from) * this.scale;
  }

  time(x) {
    return this.from + x / this.scale;
  }
}

class Chart {
  constructor(run, state, theme) {
    Object.assign(this, { run, state, theme, canvas: byId("chart") });
    this.layOut();
    this.label();
  }

  /** The rows from top to bottom. */
  layOut() {
    const { run } = this;
    // Few workers get high rows; many still fit on a screen or two.
    const many = Math.max(run.workers.length, 1);
    const high = Math.floor(Math.max(14, Math.min(30 + 60 / many, 720 / many)));
    const rows = [];
    let top = 0;
    const add = (row) => {
      rows.push({ ...row, top });
      top += row.height + (row.kind === "node" ? 0 : GAP);
    };
    for (const node of run.nodes) {
      const workers = [...run.workers.keys()].filter(
        (worker) => run.workers[worker].node === node.number && run.isShown(worker),
      );
      const links = [...run.links.keys()].filter((link) => run.links[link].to === node.number);
      if (workers.length + links.length === 0) continue;
      add({ kind: "node", height: NODE, name: node.name });
      for (const worker of workers)
        add({
          kind: "worker",
          height: high,
          worker,
          spans: run.byWorker[worker],
          idle: run.idleByWorker[worker],
        });
      for (const link of links) add({ kind: "link", height: LINK, link, spans: run.byLink[link] });
    }
    this.rows = rows;
    this.height = Math.max(top, 60);
    this.rowOf = run.workers.map((_, worker) => rows.find((row) => row.worker === worker));
  }

  /** The rows' names, at their left. */
  label() {
    const { run } = this;
    byId("rows").replaceChildren(
      ...this.rows.map((row) => {
        const style = `top:${row.top}px;height:${row.height}px`;
        if (row.kind === "node") return make("div", { class: "node", style, title: row.name }, row.name);
        if (row.kind === "link") {
          const { from, name } = run.links[row.link];
          return make(
            "div",
            { class: "via", style, title: name },
            make("span", { class: "name" }, `from ${run.nodeName(from)}`),
          );
        }
        const { name, busy_us: busy, idle_us: idle } = run.summary.workers[row.worker];
        const use = busy + idle > 0 ? percent(busy / (busy + idle)) : "";
        return make(
          "div",
          { style, title: `${name}: busy ${use}` },
          make("span", { class: "name" }, name),
          make("span", { class: "use" }, use),
        );
      }),
    );
    const tasks = plural(run.tasks.count, "task");
    this.canvas.setAttribute("aria-label", `Timeline of ${tasks} on ${plural(run.workers.length, "worker")}`);
  }

  draw() {
    const { context, width } = fitted(this.canvas, this.height);
    this.view = new View(this.state, width);
    this.drawAxis();
    const ticks = this.ticks(width);
    context.fillStyle = this.theme.faint;
    for (const row of this.rows) if (row.kind !== "node") context.fillRect(0, row.top, width, row.height);
    context.fillStyle = this.theme.line;
    for (const tick of ticks.times) context.fillRect(Math.round(this.view.x(tick)), 0, 1, this.height);
    for (const row of this.rows) this.drawRow(context, row);
    if (this.state.critical) this.drawPath(context);
    if (this.state.selected !== null) this.drawSelected(context);
    if (this.rows.length === 0 || this.run.tasks.count === 0) this.drawNothing(context, width);
  }

  drawNothing(context, width) {
    context.fillStyle = this.theme.quiet;
    context.font = "14px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText("No task ran.", width / 2, this.height / 2);
  }

  drawRow(context, row) {
    const { run, state, theme, view } = this;
    if (row.kind === "link") {
      const alpha = state.critical || state.matching !== null ? DIM * 2 : 0.75;
      drawSpans(context, { top: row.top + 3, height: row.height - 6, gap: true }, view, row.spans, () => 0, [
        { style: theme.quiet, alpha },
      ]);
    }
    if (row.kind !== "worker") return;
    const of = run.tasks.codelet;
    const own = theme.codelets.map((style) => ({ style, alpha: 1 }));
    const fills = [...own, ...own.map(({ style }) => ({ style, alpha: DIM }))];
    const strip = { top: row.top, height: row.height - 5, gap: true };
    drawSpans(
      context,
      strip,
      view,
      row.spans,
      (task) => (state.stands(task) ? of[task] : own.length + of[task]),
      fills,
    );
    drawCauses(
      context,
      { top: row.top + row.height - 4, height: 4 },
      view,
      row.idle,
      run.idle.cause,
      theme.causes,
    );
    if (row.height >= 20) this.drawNames(context, row);
    for (const task of run.tasks.failure.keys())
      if (run.tasks.worker[task] === row.worker) this.drawFailed(context, task);
  }

  /** A frame and a cross: what failed or was cancelled is seen at any size. */
  drawFailed(context, task) {
    const { left, right, top, bottom } = this.box(task);
    if (right < 0 || left > this.view.width) return;
    Object.assign(context, { strokeStyle: this.theme.failed, lineWidth: 2 });
    context.strokeRect(left, top + 1, right - left, bottom - top - 2);
    const middle = (left + right) / 2,
      high = (top + bottom) / 2;
    context.beginPath();
    for (const [x, y] of [
      [-4, -4],
      [-4, 4],
    ]) {
      context.moveTo(middle + x, high + y);
      context.lineTo(middle - x, high - y);
    }
    context.stroke();
  }

  /** The codelets' names where there is room. */
  drawNames(context, row) {
    const { run, state, theme, view } = this;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "middle";
    row.spans.within(view.from, view.to, (task) => {
      const left = Math.max(view.x(run.tasks.start[task]), 0),
        right = Math.min(view.x(run.end(task)), view.width);
      const room = right - left - 12;
      if (room < 18) return;
      const name = run.codelet(task).name;
      const text = [`${name} #${run.tasks.number[task]}`, name].find(
        (text) => context.measureText(text).width <= room,
      );
      if (text === undefined) return;
      const stands = state.stands(task);
      context.globalAlpha = stands ? 1 : 0.55;
      context.fillStyle = stands ? theme.inks[run.tasks.codelet[task]] : theme.quiet;
      context.fillText(text, left + 6, row.top + (row.height - 5) / 2 + 0.5);
    });
    context.globalAlpha = 1;
  }

  /** Where a task is: `{ left, right, top, bottom }`. */
  box(task) {
    const row = this.rowOf[this.run.tasks.worker[task]];
    const left = this.view.x(this.run.tasks.start[task]),
      right = this.view.x(this.run.end(task));
    return { left, right: Math.max(right, left + 2), top: row.top, bottom: row.top + row.height - 5 };
  }

  drawPath(context) {
    const { run, theme } = this;
    const lines = new Path2D();
    for (let i = 1; i < run.path.length; i++) {
      const from = this.box(run.path[i - 1]),
        to = this.box(run.path[i]);
      if (to.left < -10 || from.right > this.view.width + 10) continue;
      if (from.top === to.top && to.left - from.right < 2) continue;
      arrow(lines, from, to);
    }
    this.stroke(context, lines, theme.ink, []);
  }

  /** A line that can be seen on any colour. */
  stroke(context, path, style, dash) {
    for (const [color, width, alpha] of [
      [this.theme.sheet, 3.6, 0.7],
      [style, 1.4, 1],
    ]) {
      Object.assign(context, { strokeStyle: color, lineWidth: width, globalAlpha: alpha });
      context.setLineDash(width > 2 ? [] : dash);
      context.stroke(path);
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  drawSelected(context) {
    const { run, state, theme } = this;
    const own = this.box(state.selected);
    const lines = new Path2D(),
      dashes = new Path2D();
    for (const before of run.before(state.selected).slice(0, ARROWS)) arrow(lines, this.box(before), own);
    for (const after of run.after(state.selected).slice(0, ARROWS)) arrow(dashes, own, this.box(after));
    this.stroke(context, lines, theme.ink, []);
    this.stroke(context, dashes, theme.ink, [4, 3]);
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    context.strokeRect(own.left - 1, own.top - 1, own.right - own.left + 2, own.bottom - own.top + 2);
    context.strokeStyle = theme.sheet;
    context.lineWidth = 1;
    if (own.right - own.left > 6)
      context.strokeRect(own.left + 0.5, own.top + 0.5, own.right - own.left - 1, own.bottom - own.top - 1);
  }

  /** Round times some hundred pixels apart. */
  ticks(width) {
    if (this.run.duration === 0) return { step: 1, times: [] };
    const rough = (this.state.to - this.state.from) / Math.max(width / 110, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((times) => power * times >= rough);
    const times = [];
    for (let tick = Math.ceil(this.state.from / step) * step; tick <= this.state.to; tick += step)
      times.push(tick);
    return { step, times };
  }

  drawAxis() {
    const { context, width, height } = fitted(byId("axis"));
    const { step, times } = this.ticks(width);
    context.font = "11.5px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const tick of times) {
      const x = this.view.x(tick);
      context.fillStyle = this.theme.line;
      context.fillRect(Math.round(x), height - 6, 1, 6);
      const text = tick === 0 ? "0" : moment(tick, step);
      const half = context.measureText(text).width / 2;
      if (x + half > width + 1 && tick !== 0) continue;
      context.fillStyle = this.theme.quiet;
      context.textAlign = x < half ? "left" : "center";
      context.fillText(text, x < half ? Math.max(x, 0) : x, height / 2 - 2);
    }
    byId("window").textContent =
      this.run.duration === 0 ? "" : `${time(this.state.to - this.state.from)} shown`;
  }

  /** What is at a place of the chart: `{ task }`, `{ idle }`, `{ transfer }`, or null. */
  at(x, y) {
    const row = this.rows.find((row) => y >= row.top - 1 && y < row.top + row.height + 1);
    if (row === undefined || row.kind === "node") return null;
    const find = (spans, room) => {
      const moment = this.view.time(x),
        reach = room / this.view.scale;
      let found = null,
        least = Infinity;
      spans.within(moment - reach, moment + reach, (member) => {
        const away = Math.max(spans.start[member] - moment, moment - spans.end(member), 0);
        if (away < least || (away === least && spans.duration[member] > spans.duration[found]))
          [found, least] = [member, away];
      });
      return found;
    };
    if (row.kind === "link") {
      const transfer = find(row.spans, 2);
      return transfer === null ? null : { transfer };
    }
    const isStrip = y >= row.top + row.height - 4;
    const task = isStrip ? null : find(row.spans, 1.5);
    if (task !== null) return { task };
    const idle = find(row.idle, 0.5);
    return idle === null ? null : { idle };
  }
}

/** Adds to a path a curve from the end of a box to the beginning of another, with a head. */
function arrow(path, from, to) {
  const begin = [from.right, (from.top + from.bottom) / 2],
    end = [to.left, (to.top + to.bottom) / 2];
  const bend = Math.max(Math.min(Math.abs(end[0] - begin[0]) / 2, 60), 14);
  path.moveTo(...begin);
  path.bezierCurveTo(begin[0] + bend, begin[1], end[0] - bend, end[1], ...end);
  path.moveTo(end[0] - 6, end[1] - 3.5);
  path.lineTo(...end);
  path.lineTo(end[0] - 6, end[1] + 3.5);
}
