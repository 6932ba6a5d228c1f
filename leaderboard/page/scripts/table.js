"use strict";

/**
 * A table with headings that sort it. A column has a title, a cell(row) that gives a node or a text,
 * and a key(row) to sort by. Rows without a key come last, in both directions.
 */
function sortableTable(table, columns, rows, { open, sort } = {}) {
  const body = element("tbody");
  const entries = rows.map((row) => ({ row, line: tableLine(row, columns, open) }));
  const heads = columns.map((column, place) => {
    const press = () => {
      const down = head.getAttribute("aria-sort") === (column.name ? "ascending" : "descending");
      order(place, column.name ? (down ? "descending" : "ascending") : down ? "ascending" : "descending");
    };
    const head = element("th", { scope: "col", class: column.name ? "name" : "", "aria-sort": "none" },
      element("button", { type: "button", text: column.title, onclick: press }));
    return head;
  });

  function order(place, direction) {
    const sign = direction === "ascending" ? 1 : -1;
    const key = columns[place].key;
    entries.sort((one, two) => compareKeys(key(one.row), key(two.row), sign));
    heads.forEach((head, i) => head.setAttribute("aria-sort", i === place ? direction : "none"));
    body.append(...entries.map((entry) => entry.line));
  }

  table.replaceChildren(element("thead", {}, element("tr", {}, ...heads)), body);
  body.append(...entries.map((entry) => entry.line));
  if (sort) order(...sort);
  return {
    show(wanted) {
      let count = 0;
      for (const { row, line } of entries) {
        const visible = wanted(row);
        if (line.hidden === visible) line.hidden = !visible;
        count += visible;
      }
      return count;
    },
  };
}

function tableLine(row, columns, open) {
  const cells = columns.map((column, place) => {
    const content = column.cell(row);
    const opener = open && place === 0
      ? element("button", { type: "button", text: content, onclick: (event) => { event.stopPropagation(); open(row); } })
      : content;
    const options = { class: [column.name ? "name" : "", column.kind?.(row) ?? ""].join(" ").trim() };
    return place === 0 ? element("th", { scope: "row", ...options }, opener) : element("td", options, opener);
  });
  return element("tr", open ? { class: "open", onclick: () => open(row) } : {}, ...cells);
}

function compareKeys(one, two, sign) {
  const absent = (one === null || one === undefined) - (two === null || two === undefined);
  if (absent) return absent;
  if (typeof one === "number" && typeof two === "number") return sign * (one - two);
  return sign * String(one).localeCompare(String(two), "en", { numeric: true });
}
