// Makes every `table.sortable` sortable by its headings: numbers by value, texts by alphabet. The
// exact value of a cell is its data-value, else the number that its text begins with. data-first
// of a heading is the order of its first click, "ascending" or "descending".
(function () {
  "use strict";
  // Table -> [position of the column, order], of the user's choice.
  const chosen = new WeakMap();
  let focused = null;

  function valueOf(cell) {
    if (!cell) return "";
    const text = cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
    return text === "-" ? "" : text;
  }

  // "1,234 MB" is 1234, "12 %" is 12; null if the text does not begin with a number.
  function numberOf(text) {
    const found = /^[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?(e[-+]?\d+)?/i.exec(text)[0];
    return found && /\d/.test(found) ? Number(found.replace(/,/g, "")) : null;
  }

  function compare(order, isNumeric) {
    const sign = order === "descending" ? -1 : 1;
    return ([a], [b]) => {
      // A missing value is last in both orders.
      if (a === "" || b === "") return (a === "") - (b === "");
      return sign * (isNumeric ? numberOf(a) - numberOf(b) :
          a.localeCompare(b, undefined, {numeric: true}));
    };
  }

  function headings(table) {
    return table.tHead ? [...table.tHead.rows[table.tHead.rows.length - 1].cells] : [];
  }

  function sort(table, position, order) {
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => [valueOf(row.cells[position]), row]);
      const isNumeric = rows.every(([value]) => value === "" || numberOf(value) !== null);
      const sorted = [...rows].sort(compare(order, isNumeric));
      if (sorted.some((each, i) => each !== rows[i])) body.append(...sorted.map(([, row]) => row));
    }
    headings(table).forEach((each, i) => {
      if (i === position) each.setAttribute("aria-sort", order);
      else each.removeAttribute("aria-sort");
    });
  }

  function click(table, heading) {
    const first = heading.dataset.first || "ascending", now = heading.getAttribute("aria-sort");
    const other = first === "ascending" ? "descending" : "ascending";
    const order = now === first ? other : first;
    chosen.set(table, [headings(table).indexOf(heading), order]);
    sort(table, ...chosen.get(table));
  }

  // Puts the content of a heading into a button; after an update the heading has a text again.
  function addButton(table, heading) {
    const parts = [...heading.childNodes].filter(
        (each) => !each.dataset || each.dataset.made === undefined);
    let button = heading.querySelector("button[data-made]");
    if (!parts.some((each) => each.textContent.trim())) return;
    if (!button) {
      button = document.createElement("button");
      button.type = "button";
      button.dataset.made = "";
      button.addEventListener("click", () => click(table, heading));
      heading.append(button);
    }
    button.replaceChildren(...parts);
  }

  // A table that is wider than its place is scrolled by keys, too.
  const places = new ResizeObserver((entries) => entries.forEach(({target}) => {
    if (target.scrollWidth <= target.clientWidth) {
      ["tabindex", "role", "aria-label"].forEach((name) => target.removeAttribute(name));
      return;
    }
    const part = target.closest("details, section"), title = part && part.querySelector(
        "summary, h2");
    target.tabIndex = 0;
    target.setAttribute("role", "group");
    target.setAttribute("aria-label", `table: ${title ? title.textContent : document.title}`);
  }));

  function prepare() {
    document.querySelectorAll(".wide").forEach((each) => {
      places.unobserve(each);
      places.observe(each);
    });
    document.querySelectorAll("table.sortable").forEach((table) => {
      headings(table).forEach((each) => addButton(table, each));
      if (chosen.has(table)) sort(table, ...chosen.get(table));
    });
    // A row that moves loses its focus.
    if (focused && focused.isConnected && document.activeElement === document.body) {
      focused.focus({preventScroll: true});
    }
  }

  document.addEventListener("focusin", (event) => { focused = event.target; });
  document.addEventListener("page:updated", prepare);
  prepare();
})();
