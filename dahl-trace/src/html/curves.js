// How much memory was in use at each node, and the power of each energy counter, under the timeline and in its window.

/** How high a curve is, in pixels, and what is between two. */
const CURVE = 44,
  BETWEEN = 10;

class Curves {
  constructor(run, state, theme) {
    Object.assign(this, { run, state, theme, canvas: byId("curves") });
    this.curves = [...this.memory(), ...this.power()];
    this.height = this.curves.length * (CURVE + BETWEEN);
    byId("curve-rows").replaceChildren(
      ...this.curves.map((curve, i) =>
        make(
          "div",
          {
            style: `top:${BETWEEN + i * (CURVE + BETWEEN)}px;height:${CURVE}px`,
            title: `${curve.name}: at most ${curve.text(curve.peak)}`,
          },
          make("span", { class: "name" }, curve.name),
          make("span", { class: "use" }, `\u2264 ${curve.text(curve.peak)}`),
        ),
      ),
    );
    const told = this.curves.map((curve) => `${curve.name}: at most ${curve.text(curve.peak)}`).join("; ");
    this.canvas.setAttribute(
      "aria-label",
      `Memory in use and power over time. ${told || "The trace has nothing of either."}`,
    );
  }

  /** A curve for each memory node that has samples. */
  memory() {
    const { at, bytes: used, node } = this.run.memory;
    return this.run.nodes
      .map(({ number, name }) => {
        const samples = [];
        for (let i = 0; i < at.length; i++) if (node[i] === number) samples.push(i);
        const values = samples.map((i) => used[i]);
        return this.curve(name, "in use", bytes, samples.map((i) => at[i]), values);
      })
      .filter((curve) => curve.at.length > 0);
  }

  /** A curve for each energy counter: the mean power between two readings, and 0 where there were none. */
  power() {
    const { at, duration, watts: used, domain } = this.run.power;
    const curves = new Map();
    for (let i = 0; i < at.length; i++) {
      if (!curves.has(domain[i])) curves.set(domain[i], { times: [], values: [], end: -1 });
      const curve = curves.get(domain[i]);
      if (curve.end >= 0 && curve.end < at[i]) {
        curve.times.push(curve.end);
        curve.values.push(0);
      }
      curve.times.push(at[i]);
      curve.values.push(used[i]);
      curve.end = at[i] + duration[i];
    }
    return [...curves].map(([name, { times, values, end }]) =>
      this.curve(this.run.texts[name], "power", watts, [...times, end], [...values, 0]),
    );
  }

  curve(name, what, text, at, values) {
    return { name, what, text, at, values, peak: values.reduce((most, value) => Math.max(most, value), 0) };
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
    let used = place < 0 ? 0 : curve.values[place];
    for (let x = 0; x <= view.width; x++) {
      let most = used;
      while (place + 1 < curve.at.length && curve.at[place + 1] <= view.time(x + 1)) {
        used = curve.values[++place];
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

  /** The value at a place of the canvas. */
  at(x, y) {
    const curve = this.curves[Math.floor((y - BETWEEN / 2) / (CURVE + BETWEEN))];
    if (curve === undefined) return null;
    const moment = new View(this.state, this.canvas.clientWidth).time(x);
    const place = this.last(curve, moment);
    const value = curve.text(place < 0 ? 0 : curve.values[place]);
    const { name, what } = curve;
    return { level: { name, what, value, moment, peak: curve.text(curve.peak) } };
  }
}
