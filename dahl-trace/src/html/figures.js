// Figures as people read them, and elements to put them in.

/** Three digits of a number. */
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** A time in nanoseconds, with its unit. */
function time(ns) {
  const size = Math.abs(ns);
  if (size === 0) return "0";
  if (size < 999.5) return `${Math.round(ns)} ns`;
  if (size < 999.5e3) return `${digits(ns / 1e3)} us`;
  if (size < 999.5e6) return `${digits(ns / 1e6)} ms`;
  return `${digits(ns / 1e9)} s`;
}

/** A point in time in nanoseconds, as exactly as steps of `step` need it. */
function moment(ns, step) {
  const [unit, name] =
    ns < 1e3 && step < 1e3
      ? [1, "ns"]
      : step < 1e6 && ns < 1e6
        ? [1e3, "us"]
        : step < 1e9 && ns < 1e9
          ? [1e6, "ms"]
          : [1e9, "s"];
  const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(ns / unit).toFixed(places)} ${name}`;
}

function bytes(value) {
  if (value < 1000) return `${value} B`;
  if (value < 999.5e3) return `${digits(value / 1e3)} kB`;
  if (value < 999.5e6) return `${digits(value / 1e6)} MB`;
  return `${digits(value / 1e9)} GB`;
}

/** A power in watts. */
function watts(value) {
  return value < 999.5 ? `${digits(value)} W` : `${digits(value / 1e3)} kW`;
}

/** An energy in joules. */
function joules(value) {
  if (value < 999.5e-6) return `${digits(value * 1e6)} uJ`;
  if (value < 999.5e-3) return `${digits(value * 1e3)} mJ`;
  return value < 999.5 ? `${digits(value)} J` : `${digits(value / 1e3)} kJ`;
}

function percent(share) {
  const value = share * 100;
  if (value === 0) return "0 %";
  return value < 0.05 ? "< 0.1 %" : `${value.toFixed(value < 9.95 ? 1 : 0)} %`;
}

function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** An element: `make("p", { class: "quiet", onclick }, "text", other)`; texts are never read as HTML. */
function make(tag, given, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "color") element.style.setProperty("--color", value);
    else if (name === "style") element.style.cssText += value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A square of a colour. */
function swatch(color, isIdle) {
  return make("span", { class: isIdle ? "swatch idle" : "swatch", color });
}

function byId(id) {
  return document.getElementById(id);
}
