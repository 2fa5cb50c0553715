// Colours as the page has them, for what is drawn: they follow the system's light and dark.

class Theme {
  constructor(run) {
    this.run = run;
    this.read();
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["sheet", "ink", "quiet", "line", "faint", "accent", "failed"])
      this[name] = style.getPropertyValue(`--${name}`).trim();
    const lift = parseFloat(style.getPropertyValue("--lift")) / 100;
    this.codelets = this.run.codelets.map(({ color }) => lifted(color, lift));
    const end = style.getPropertyValue("--end").trim();
    this.causes = this.run.causes.map(({ name, color }) => lifted(name === "end" ? end : color, lift));
    this.inks = this.codelets.map(inkOn);
  }
}

function parts(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/** A colour with some white in it. */
function lifted(color, share) {
  const mixed = parts(color).map((part) => Math.round(part + (255 - part) * share));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** What can be read on a colour: dark or white. */
function inkOn(color) {
  const [red, green, blue] = parts(color).map((part) => (part / 255) ** 2.2);
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (light + 0.05) / 0.058 > 1.05 / (light + 0.05) ? "#14161a" : "#ffffff";
}
