// The table of codelets, which sorts and picks out; the choice of codelet and the search above the timeline do so too.

const COLUMNS = [
  ["codelet", (row) => row.name, null],
  ["tasks", (row) => row.count, (row) => count(row.count)],
  ["total", (row) => row.total_us, (row) => time(row.total_us * 1000)],
  ["share", (row) => row.share, null],
  ["mean", (row) => row.mean_us, (row) => time(row.mean_us * 1000)],
  ["median", (row) => row.median_us, (row) => time(row.median_us * 1000)],
  ["min", (row) => row.min_us, (row) => time(row.min_us * 1000)],
  ["max", (row) => row.max_us, (row) => time(row.max_us * 1000)],
  [
    "prediction error",
    (row) => row.prediction_error ?? -1,
    (row) => (row.prediction_error === null ? "\u2013" : percent(row.prediction_error)),
  ],
];

class Codelets {
  constructor(run, state) {
    Object.assign(this, { run, state, column: 2, isDescending: true });
    this.rows = run.codelets.map((codelet, place) => ({
      ...run.summary.codelets.find((row) => row.path === codelet.path),
      color: codelet.color,
      place,
    }));
    this.build();
    const filter = byId("filter");
    filter.append(...run.codelets.map(({ name }, place) => make("option", { value: place }, name)));
    filter.addEventListener("change", () => state.choose(filter.value === "" ? null : Number(filter.value)));
    const search = byId("search");
    search.addEventListener("input", () => state.seek(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const task = state.next();
      if (task !== null) state.jump(task);
    });
  }

  build() {
    const heads = COLUMNS.map(([name], column) =>
      make(
        "th",
        { scope: "col" },
        make("button", { type: "button", "data-column": name, onclick: () => this.sort(column) }, name),
      ),
    );
    this.heads = heads;
    this.body = make("tbody");
    byId("codelets").replaceChildren(make("thead", null, make("tr", null, heads)), this.body);
    this.draw();
  }

  sort(column) {
    this.isDescending = this.column === column ? !this.isDescending : column !== 0;
    this.column = column;
    this.draw();
  }

  sorted() {
    const value = COLUMNS[this.column][1];
    const sign = this.isDescending ? -1 : 1;
    return [...this.rows].sort(
      (a, b) =>
        sign * (typeof value(a) === "string" ? value(a).localeCompare(value(b)) : value(a) - value(b)),
    );
  }

  draw() {
    this.heads.forEach((head, column) => {
      if (column === this.column)
        head.setAttribute("aria-sort", this.isDescending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...this.sorted().map((row) => this.row(row)));
    if (this.rows.length === 0)
      this.body.append(
        make("tr", null, make("td", { colspan: COLUMNS.length, class: "quiet" }, "No task ran.")),
      );
  }

  row(row) {
    const choose = () => this.state.choose(this.state.codelet === row.place ? null : row.place);
    const isChosen = this.state.codelet === row.place;
    const name = make(
      "span",
      { class: "name" },
      swatch(row.color),
      make("button", { type: "button", class: "link", "aria-pressed": String(isChosen) }, row.name),
      make("span", { class: "path" }, row.path),
    );
    const share = [
      make(
        "span",
        { class: "share" },
        make("span", { color: row.color, style: `width:${row.share * 100}%` }),
      ),
      percent(row.share),
    ];
    const cells = COLUMNS.map(([title, , text]) =>
      make("td", null, title === "codelet" ? name : title === "share" ? share : text(row)),
    );
    return make(
      "tr",
      { class: isChosen ? "chosen" : null, "data-codelet": row.place, onclick: choose },
      cells,
    );
  }

  /** Follows the choice, wherever it was made. */
  follow() {
    const { state } = this;
    byId("filter").value = state.codelet === null ? "" : String(state.codelet);
    byId("matches").textContent = state.matching === null ? "" : `${plural(state.matches, "task")} found`;
    for (const row of this.body.rows) {
      const isChosen = state.codelet !== null && Number(row.dataset.codelet) === state.codelet;
      row.classList.toggle("chosen", isChosen);
      row.querySelector("button")?.setAttribute("aria-pressed", String(isChosen));
    }
  }
}
