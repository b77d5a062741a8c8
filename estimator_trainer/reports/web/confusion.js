// A confusion matrix as counts, or as shares of each row or column (confusion.py).
(function () {
  "use strict";

  function percent(part, whole) {
    if (!part || !whole) return "";
    const value = 100 * part / whole;
    return (value < 10 ? value.toPrecision(2) : value.toFixed(0)) + " %";
  }

  function sum(values) {
    return values.reduce((all, each) => all + each, 0);
  }

  function show(root, kind) {
    const rows = [...root.querySelectorAll("tbody tr")].map(
        (row) => [...row.querySelectorAll("td")]);
    const counts = rows.map((row) => row.map((cell) => +(cell.dataset.count || 0)));
    const ofRow = counts.map(sum);
    const ofColumn = counts.map((_, j) => sum(counts.map((row) => row[j])));
    rows.forEach((row, i) => row.forEach((cell, j) => {
      const count = counts[i][j];
      cell.textContent = kind === "count" ? (count ? count.toLocaleString("en") : "") :
          percent(count, kind === "label" ? ofRow[i] : ofColumn[j]);
    }));
  }

  document.addEventListener("change", (event) => {
    const root = event.target.closest("[data-confusion]");
    if (root) show(root, event.target.value);
  });
})();
