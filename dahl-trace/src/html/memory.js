// How much memory was in use at each node, under the timeline and in its window.

/** How high a node's curve is, in pixels, and what is between two. */
const CURVE = 44,
  BETWEEN = 10;

class MemoryCharts {
  constructor(run, state, theme) {
    Object.assign(this, { run, state, theme, canvas: byId("memory") });
    const { at, bytes: used, node } = run.memory;
    this.curves = run.nodes
      .map(({ number, name }) => {
        const samples = [];
        for (let i = 0; i < at.length; i++) if (node[i] === number) samples.push(i);
        const peak = samples.reduce((most, i) => Math.max(most, used[i]), 0);
        return { name, peak, at: samples.map((i) => at[i]), bytes: samples.map((i) => used[i]) };
      })
      .filter((curve) => curve.at.length > 0);
    this.height = this.curves.length * (CURVE + BETWEEN);
    byId("memory-rows").replaceChildren(
      ...this.curves.map((curve, i) =>
        make(
          "div",
          {
            style: `top:${BETWEEN + i * (CURVE + BETWEEN)}px;height:${CURVE}px`,
            title: `${curve.name}: at most ${bytes(curve.peak)}`,
          },
          make("span", { class: "name" }, curve.name),
          make("span", { class: "use" }, `\u2264 ${bytes(curve.peak)}`),
        ),
      ),
    );
    const told = this.curves.map((curve) => `${curve.name}: at most ${bytes(curve.peak)}`).join("; ");
    this.canvas.setAttribute(
      "aria-label",
      `Memory in use over time. ${told || "The trace has nothing of it."}`,
    );
  }

  draw() {
    const { context, width } = fitted(this.canvas, this.height);
    const view = new View(this.state, width);
    this.curves.forEach((curve, i) => this.drawCurve(context, view, curve, BETWEEN + i * (CURVE + BETWEEN)));
  }

  drawCurve(context, view, curve, top) {
    const bottom = top + CURVE;
    const y = (used) => bottom - (curve.peak === 0 ? 0 : used / curve.peak) * (CURVE - 1);
    context.fillStyle = this.theme.faint;
    context.fillRect(0, top, view.width, CURVE);
    // Of the samples within a pixel the highest is drawn.
    context.beginPath();
    context.moveTo(0, bottom);
    let place = this.last(curve, view.from);
    let used = place < 0 ? 0 : curve.bytes[place];
    for (let x = 0; x <= view.width; x++) {
      let most = used;
      while (place + 1 < curve.at.length && curve.at[place + 1] <= view.time(x + 1)) {
        used = curve.bytes[++place];
        most = Math.max(most, used);
      }
      context.lineTo(x, y(most));
      context.lineTo(x + 1, y(most));
    }
    context.lineTo(view.width, bottom);
    context.globalAlpha = 0.25;
    context.fillStyle = this.theme.accent;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = this.theme.accent;
    context.lineWidth = 1.2;
    context.stroke();
  }

  /** The place of the last sample at or before a time; -1 if there is none. */
  last(curve, moment) {
    let low = 0,
      high = curve.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (curve.at[middle] <= moment) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** What was in use at a place of the canvas. */
  at(x, y) {
    const curve = this.curves[Math.floor((y - BETWEEN / 2) / (CURVE + BETWEEN))];
    if (curve === undefined) return null;
    const moment = new View(this.state, this.canvas.clientWidth).time(x);
    const place = this.last(curve, moment);
    return {
      memory: { name: curve.name, bytes: place < 0 ? 0 : curve.bytes[place], moment, peak: curve.peak },
    };
  }
}
