// Mouse, touch and keyboard on the charts.

/** After how long without a turn of the wheel a new turn begins, in milliseconds. */
const PAUSE = 350;

class Hand {
  constructor(state, chart, minimap, curves, tooltip) {
    Object.assign(this, {
      state,
      chart,
      minimap,
      curves,
      tooltip,
      pointers: new Map(),
      turned: -Infinity,
      scrolls: false,
    });
    window.addEventListener("wheel", (event) => this.turn(event), { passive: true, capture: true });
    this.onChart(chart.canvas, (x, y) => chart.at(x, y));
    this.onChart(curves.canvas, (x, y) => curves.at(x, y));
    this.onMinimap(minimap.canvas);
    chart.canvas.addEventListener("keydown", (event) => this.key(event));
    chart.canvas.addEventListener("dblclick", (event) => {
      const found = chart.at(event.offsetX, event.offsetY);
      if (found?.task !== undefined) this.state.zoomTo(found.task);
    });
  }

  onChart(canvas, find) {
    canvas.addEventListener("wheel", (event) => this.wheel(event, canvas), { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event.offsetX);
      this.moved = 0;
      this.tooltip.hide();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.pointers.has(event.pointerId)) this.drag(event, canvas);
      else this.hover(event, canvas, find);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.pointers.delete(event.pointerId) && this.moved < 4)
        this.click(canvas, find(event.offsetX, event.offsetY));
      canvas.classList.remove("moving");
    });
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.tooltip.hide());
  }

  /** A turn of the wheel that began beside the charts goes on scrolling the page when they come under the pointer. */
  turn(event) {
    const now = performance.now();
    if (now - this.turned > PAUSE) this.scrolls = !(event.target instanceof HTMLCanvasElement);
    this.turned = now;
  }

  wheel(event, canvas) {
    if (this.scrolls) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const by = (isSideways && event.deltaX !== 0 ? event.deltaX : event.deltaY) * lines;
    if (isSideways) return this.state.move(by / canvas.clientWidth);
    const around = new View(this.state, canvas.clientWidth).time(event.offsetX);
    this.state.zoom(Math.exp(Math.max(-300, Math.min(300, by)) * 0.0022), around);
  }

  /** One pointer moves the window; two also stretch it. */
  drag(event, canvas) {
    const before = [...this.pointers.values()];
    this.moved += Math.abs(event.offsetX - this.pointers.get(event.pointerId));
    this.pointers.set(event.pointerId, event.offsetX);
    if (this.moved < 4) return;
    canvas.classList.add("moving");
    const after = [...this.pointers.values()];
    const middle = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
    this.state.move((middle(before) - middle(after)) / canvas.clientWidth);
    if (after.length !== 2) return;
    const apart = (list) => Math.max(Math.abs(list[0] - list[1]), 10);
    this.state.zoom(
      apart(before) / apart(after),
      new View(this.state, canvas.clientWidth).time(middle(after)),
    );
  }

  hover(event, canvas, find) {
    const found = find(event.offsetX, event.offsetY);
    canvas.classList.toggle("over", found?.task !== undefined);
    this.tooltip.show(found, event.clientX, event.clientY);
  }

  click(canvas, found) {
    if (canvas === this.chart.canvas) this.state.select(found?.task ?? null);
  }

  onMinimap(canvas) {
    const { state } = this;
    const place = (event) => (event.offsetX / canvas.clientWidth) * state.whole;
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (this.scrolls) return;
        event.preventDefault();
        state.zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) * 0.0022), place(event));
      },
      { passive: false },
    );
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      const moment = place(event),
        length = state.to - state.from;
      const isInside = moment >= state.from && moment <= state.to && length < state.whole;
      // Inside the window it is taken hold of; elsewhere, and where all is shown, a new one is drawn.
      held = isInside ? { offset: moment - state.from } : { begin: moment };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held === null) return;
      const moment = Math.min(Math.max(place(event), 0), state.whole);
      if (held.offset !== undefined)
        state.show(moment - held.offset, moment - held.offset + state.to - state.from);
      else if (Math.abs(moment - held.begin) > state.whole / 400)
        state.show(Math.min(moment, held.begin), Math.max(moment, held.begin));
    });
    canvas.addEventListener("pointerup", (event) => {
      const moment = place(event),
        half = (state.to - state.from) / 2;
      if (held?.begin !== undefined && Math.abs(moment - held.begin) <= state.whole / 400)
        state.show(moment - half, moment + half);
      held = null;
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { state } = this;
    const does = {
      ArrowLeft: () => state.move(-0.2),
      ArrowRight: () => state.move(0.2),
      "+": () => state.zoom(0.6),
      "=": () => state.zoom(0.6),
      "-": () => state.zoom(1 / 0.6),
      0: () => state.show(0, state.whole),
      Home: () => state.show(0, state.to - state.from),
      End: () => state.show(state.whole - (state.to - state.from), state.whole),
      n: () => this.beside(1),
      p: () => this.beside(-1),
      ArrowDown: () => this.across(1),
      ArrowUp: () => this.across(-1),
      z: () => state.selected !== null && state.zoomTo(state.selected),
      c: () => state.setCritical(!state.critical),
      Escape: () => state.select(null),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (does === undefined) return;
    event.preventDefault();
    does();
  }

  /** Selects the task before or after the one selected, of the same worker; the first there is if none is. */
  beside(step) {
    const { state } = this;
    const task = state.selected === null ? this.inWindow(0) : state.run.beside(state.selected, step);
    if (task !== undefined) state.jump(task);
  }

  /** Selects the task nearest in time of a worker above or below. */
  across(step) {
    const { state } = this;
    const { run } = state;
    if (state.selected === null) return this.beside(1);
    const own = run.tasks.start[state.selected];
    for (
      let worker = run.tasks.worker[state.selected] + step;
      run.byWorker[worker] !== undefined;
      worker += step
    ) {
      const near = run.byWorker[worker].members.reduce(
        (best, task) =>
          Math.abs(run.tasks.start[task] - own) < Math.abs(run.tasks.start[best] - own) ? task : best,
        run.byWorker[worker].members[0],
      );
      if (near !== undefined) return state.jump(near);
    }
  }

  /** The first task of the window, of the first worker from `worker` on that has one. */
  inWindow(worker) {
    const { byWorker } = this.state.run;
    for (; worker < byWorker.length; worker++) {
      const task = byWorker[worker].members[byWorker[worker].first(this.state.from)];
      if (task !== undefined) return task;
    }
    return undefined;
  }
}
