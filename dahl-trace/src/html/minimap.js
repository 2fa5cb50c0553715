// The whole run in one strip: how busy the workers were at each time, and with which codelets; the window lies over it.

class Minimap {
  constructor(run, state, theme) {
    Object.assign(this, { run, state, theme, canvas: byId("minimap") });
    this.width = 0;
  }

  /** The share of each column's time, over all workers, that each codelet took. */
  gather(width) {
    const { run } = this;
    this.width = width;
    const kinds = run.codelets.length;
    this.shares = new Float64Array(width * kinds);
    const workers = Math.max(run.workers.filter((worker) => worker.number !== null).length, 1);
    const scale = width / Math.max(run.duration, 1);
    for (let task = 0; task < run.tasks.count; task++) {
      const left = run.tasks.start[task] * scale,
        right = run.end(task) * scale;
      for (let at = Math.floor(left); at <= right && at < width; at++) {
        this.shares[at * kinds + run.tasks.codelet[task]] +=
          (Math.min(right, at + 1) - Math.max(left, at)) / workers;
      }
    }
  }

  draw() {
    const { context, width, height } = fitted(this.canvas);
    if (Math.floor(width) !== this.width) this.gather(Math.floor(width));
    context.fillStyle = this.theme.faint;
    context.fillRect(0, 0, width, height);
    const kinds = this.run.codelets.length;
    for (let codelet = 0; codelet < kinds; codelet++) this.drawLayer(context, codelet, height);
    this.drawWindow(context, width, height);
  }

  drawLayer(context, codelet, height) {
    const kinds = this.run.codelets.length;
    context.fillStyle = this.theme.codelets[codelet];
    for (let at = 0; at < this.width; at++) {
      const share = this.shares[at * kinds + codelet];
      if (share === 0) continue;
      let below = 0;
      for (let other = 0; other < codelet; other++) below += this.shares[at * kinds + other];
      const bottom = height * (1 - Math.min(below, 1)),
        top = height * (1 - Math.min(below + share, 1));
      context.fillRect(at, top, 1, bottom - top);
    }
  }

  drawWindow(context, width, height) {
    const { state, theme } = this;
    const left = (state.from / state.whole) * width,
      right = (state.to / state.whole) * width;
    context.fillStyle = theme.sheet;
    context.globalAlpha = 0.72;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.ink;
    context.lineWidth = 1;
    context.strokeRect(
      Math.max(left, 0) + 0.5,
      0.5,
      Math.max(Math.min(right, width) - Math.max(left, 0) - 1, 2),
      height - 1,
    );
  }
}
