// Puts the page together, and draws what has changed once for each frame.

const run = new Run(JSON.parse(byId("data").textContent));
const state = new State(run);
const theme = new Theme(run);
const chart = new Chart(run, state, theme);
const minimap = new Minimap(run, state, theme);
const curves = new Curves(run, state, theme);
const tooltip = new Tooltip(run);
const panel = new Panel(run, state);
const hand = new Hand(state, chart, minimap, curves, tooltip);
const overview = new Overview(run, state);
const codelets = new Codelets(run, state);

let frames = 0,
  frame = null,
  drawn_ms = 0;

function draw() {
  frame = null;
  const begun = performance.now();
  chart.draw();
  minimap.draw();
  curves.draw();
  drawn_ms = performance.now() - begun;
  frames++;
}

function redraw() {
  frame ??= requestAnimationFrame(draw);
}

state.listen((what) => {
  if (what === "selected") panel.draw();
  if (what === "matching") codelets.follow();
  if (what === "critical") byId("critical").setAttribute("aria-pressed", String(state.critical));
  if (what === "window") tooltip.hide();
  redraw();
});

byId("critical").addEventListener("click", () => state.setCritical(!state.critical));
byId("closer").addEventListener("click", () => state.zoom(0.6));
byId("farther").addEventListener("click", () => state.zoom(1 / 0.6));
byId("all").addEventListener("click", () => state.show(0, state.whole));
byId("copied").hidden =
  run.links.length === 0 && run.summary.memory.length === 0 && run.summary.energy === null;
new ResizeObserver(redraw).observe(byId("chart"));
new ResizeObserver(() => overview.whole()).observe(byId("whole"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  theme.read();
  redraw();
});
panel.draw();
draw();

/** What is shown, for tests to read and not to change. */
Object.defineProperty(window, "report", {
  value: Object.freeze({
    get state() {
      const number = (task) => (task === null ? null : run.tasks.number[task]);
      return {
        from: state.from,
        to: state.to,
        whole: state.whole,
        selected: number(state.selected),
        codelet: state.codelet,
        search: state.search,
        matches: state.matching === null ? null : state.matches,
        critical: state.critical,
        path: run.path.map(number),
        tasks: run.tasks.count,
        rows: codelets.sorted().map((row) => row.name),
        frames,
        drawn_ms,
      };
    },
    /** Where on the page the middle of a task is, if it is shown. */
    place(number) {
      const task = run.places.get(number);
      const { left, right, top, bottom } = chart.box(task);
      const on = chart.canvas.getBoundingClientRect();
      return { x: on.left + (left + right) / 2, y: on.top + (top + bottom) / 2, width: right - left };
    },
  }),
});
