// What lies on a row, drawn so that no time is lost: what is narrower than a few pixels is added up by column of pixels,
// each colour as high as its share of the column's time.

/** From how many pixels on a span is a rectangle of its own. */
const OWN = 3;

/** A canvas as large as its place on the page, in the screen's pixels; returns its context, in the page's. */
function fitted(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  if (height !== undefined) canvas.style.height = `${height}px`;
  const high = height ?? canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(high * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(high * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, high);
  return { context, width, height: high };
}

/** Draws spans into a strip. `paint` gives a member's place in `fills`, which are `{ style, alpha }`. */
function drawSpans(context, strip, view, spans, paint, fills) {
  const shares = new Float64Array(fills.length);
  let column = -1;
  const flush = () => {
    if (column < 0) return;
    let bottom = strip.top + strip.height;
    for (let fill = 0; fill < fills.length; fill++) {
      if (shares[fill] === 0) continue;
      const high = Math.min(Math.max(shares[fill] * strip.height, 0.6), bottom - strip.top);
      context.globalAlpha = fills[fill].alpha;
      context.fillStyle = fills[fill].style;
      context.fillRect(column, bottom - high, 1, high);
      bottom -= high;
      shares[fill] = 0;
    }
    column = -1;
  };
  spans.within(view.from, view.to, (member) => {
    const left = view.x(spans.start[member]);
    const right = view.x(spans.end(member));
    const fill = paint(member);
    if (right - left < OWN) {
      for (let at = Math.floor(left); at <= Math.floor(right); at++) {
        if (at > column) {
          flush();
          column = at;
        }
        shares[fill] += Math.max(Math.min(right, at + 1) - Math.max(left, at), 0.001);
      }
      return;
    }
    flush();
    context.globalAlpha = fills[fill].alpha;
    context.fillStyle = fills[fill].style;
    const from = Math.max(left, -2),
      to = Math.min(right, view.width + 2);
    context.fillRect(
      from,
      strip.top,
      Math.max(to - from - (strip.gap && right - left > 5 ? 1 : 0), 1),
      strip.height,
    );
  });
  flush();
  context.globalAlpha = 1;
}

/** A strip whose columns have the colour of the cause that kept the worker for longest. */
function drawCauses(context, strip, view, spans, causeOf, styles) {
  const columns = new Float64Array(Math.ceil(view.width + 1) * styles.length);
  spans.within(view.from, view.to, (member) => {
    const left = Math.max(view.x(spans.start[member]), 0),
      right = Math.min(view.x(spans.end(member)), view.width);
    for (let at = Math.floor(left); at < right; at++) {
      columns[at * styles.length + causeOf[member]] += Math.min(right, at + 1) - Math.max(left, at);
    }
  });
  // Columns alike are one rectangle.
  let begin = 0,
    last = -1;
  const flush = (until) => {
    if (last >= 0) {
      context.globalAlpha = Math.min(1, 0.15 + (0.85 * (last % 64)) / 63);
      context.fillStyle = styles[Math.floor(last / 64)];
      context.fillRect(begin, strip.top, until - begin, strip.height);
    }
    begin = until;
  };
  const width = Math.ceil(view.width);
  for (let at = 0; at < width; at++) {
    const now = most(columns.subarray(at * styles.length, (at + 1) * styles.length));
    if (now === last) continue;
    flush(at);
    last = now;
  }
  flush(width);
  context.globalAlpha = 1;
}

/** The place of the largest of some shares, times 64, plus their sum in 63rds; -1 if there are none. */
function most(shares) {
  let largest = -1,
    sum = 0;
  for (let place = 0; place < shares.length; place++) {
    sum += shares[place];
    if (shares[place] > 0 && (largest < 0 || shares[place] > shares[largest])) largest = place;
  }
  return largest < 0 ? -1 : largest * 64 + Math.round(Math.min(sum, 1) * 63);
}
