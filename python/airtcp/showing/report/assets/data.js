// A figure's data: as a table that opens on demand, and as CSV.

const SHOWN_ROWS = 200;

function rowsOf({ spec }) {
  const extras = ["high", "errors", "notes"].filter((key) => spec.marks.some((mark) => mark[key]));
  const titles = { high: `${spec.y.label}, high`, errors: "± half-width", notes: "note" };
  const head = ["scheme", "series", spec.x.label || "x", spec.y.label || "y", ...extras.map((key) => titles[key])];
  const rows = spec.marks.flatMap((mark) => (mark.kind === "heat" ? heatRows(mark) : markRows(mark, extras)));
  const isHeat = spec.marks.some((mark) => mark.kind === "heat");
  return { head: isHeat ? [...head, spec.marks.find((mark) => mark.kind === "heat").z_label || "value"] : head, rows };
}

function markRows(mark, extras) {
  const length = Math.max((mark.x || []).length, (mark.y || []).length);
  const owner = mark.scheme || mark.panel || "";
  return Array.from({ length }, (_, place) => [
    owner, mark.name, mark.x?.[place] ?? "", mark.y?.[place] ?? "", ...extras.map((key) => mark[key]?.[place] ?? ""),
  ]);
}

function heatRows(mark) {
  return mark.y.flatMap((y, row) => mark.x.map((x, column) => [
    mark.winners?.[row]?.[column] ?? mark.scheme ?? "", mark.name, x, y, mark.z[row]?.[column] ?? "",
  ]));
}

const csvCell = (value) => (/[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
const csvOf = ({ head, rows }) => `${[head, ...rows].map((row) => row.map(csvCell).join(",")).join("\n")}\n`;

function showData(figure, details) {
  if (details.dataset.full !== undefined) return;
  details.dataset.full = "";
  const data = rowsOf(figure);
  const file = `${figure.name.replace("at-", "")}.csv`;
  const table = make("table", {}, make("caption", {}, `Data of “${figure.spec.title}”`));
  table.append(make("thead", {}, make("tr", {}, ...data.head.map((title) => make("th", { scope: "col" }, title)))));
  table.append(make("tbody", {}, ...data.rows.slice(0, SHOWN_ROWS).map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, String(cell)))))));
  const count = data.rows.length > SHOWN_ROWS ? `The first ${SHOWN_ROWS} of ${data.rows.length} rows; the CSV has all.` : `${data.rows.length} rows.`;
  details.append(
    make("div", { class: "buttons" }, button("Save as CSV", () => save(csvOf(data), file, "text/csv")), make("span", {}, count)),
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Data of ${figure.spec.title}` }, table),
  );
}
