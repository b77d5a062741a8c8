// Filters the table of many runs, and shows how to compare those that are chosen.
(function () {
  "use strict";
  const MOST = 12;
  const table = document.querySelector("table.runs");
  if (!table) return;

  function rows() {
    return [...table.tBodies[0].rows];
  }

  // A row is shown if it has every word of the filter.
  function filter() {
    const input = document.querySelector("[data-filter]");
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows()) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const shown = rows().filter((row) => !row.hidden).length;
    document.querySelector("[data-count]").textContent = words.length ?
        `${shown} of ${rows().length} runs` : `${rows().length} runs`;
  }

  function link(names) {
    const made = document.createElement("a");
    made.href = `compare/?${names.map((name) => `run=${encodeURIComponent(name)}`).join("&")}`;
    made.textContent = `Compare ${names.length} runs`;
    return [made];
  }

  function command(paths) {
    const made = document.createElement("code");
    made.textContent = `estimator-trainer report ${paths.join(" ")}`;
    return ["To compare them, type: ", made];
  }

  function choose() {
    const place = document.querySelector("[data-compare]");
    const found = [...table.querySelectorAll("input[data-run]:checked")];
    if (found.length < 2) {
      place.textContent = found.length ? "Choose one more run to compare." :
          "Choose runs to compare them.";
    } else if (found.length > MOST) {
      place.textContent = `${found.length} runs are chosen; a comparison has at most ${MOST}.`;
    } else {
      place.replaceChildren(...(place.dataset.compare === "address" ?
          link(found.map((each) => each.dataset.run)) :
          command(found.map((each) => each.dataset.path))));
    }
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) filter();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[data-run]")) choose();
  });
  document.addEventListener("page:updated", () => {
    filter();
    choose();
  });
})();
