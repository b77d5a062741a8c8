// The tools of each chart: log axis, larger, CSV, arrow keys; and printing.
(function () {
  "use strict";
  function button(text, name, click) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", () => click(made));
    return made;
  }

  // A spreadsheet would run a text that begins like a formula.
  function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  function csv(chart) {
    const rows = [];
    if (chart.runs) {
      rows.push(["series", "step", "seconds", "time", "value"]);
      chart.series.forEach((each) => each.value.forEach((value, i) => {
        if (value === null) return;
        const at = new Date(1e3 * (chart.runs[each.run].start + each.secs[i])).toISOString();
        rows.push([each.label, each.step[i], each.secs[i], at, value]);
      }));
    } else {
      rows.push([chart.x, ...chart.series.map((each) => each.label)]);
      chart.data[0].forEach((_, i) => rows.push(chart.data.map((column) => column[i])));
    }
    return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
  }

  function download(chart) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(chart)], {type: "text/csv"}));
    link.download = `${chart.title.replace(/[^\w.-]+/g, "_").slice(0, 60)}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function toggle(state, key) {
    return (made) => {
      state[key] = !state[key];
      made.setAttribute("aria-pressed", state[key]);
      state.place.closest("figure").classList.toggle("large", state.isLarge);
      Charts.redraw(state);
    };
  }

  function addTools(state) {
    const figure = state.place.closest("figure"), title = state.chart.title;
    const tools = document.createElement("div");
    tools.className = "tools";
    const log = button("log", `log scale: ${title}`, toggle(state, "isLog"));
    const large = button("larger", `larger: ${title}`, toggle(state, "isLarge"));
    [log, large].forEach((each) => each.setAttribute("aria-pressed", "false"));
    const hasPositive = state.chart.runs && state.chart.series.some(
        (each) => each.value.some((value) => value > 0));
    tools.append(...(hasPositive ? [log] : []), large,
                 button("CSV", `CSV: ${title}`, () => download(state.chart)));
    figure.querySelector("figcaption").after(tools);
    state.outside = document.createElement("p");
    state.outside.className = "quiet outside";
    state.place.after(state.outside);
    state.spoken = document.createElement("p");
    state.spoken.className = "alt";
    state.spoken.setAttribute("aria-live", "polite");
    figure.append(state.spoken);
  }

  function showOutside(state) {
    const found = state.table.outside || [];
    const shown = found.slice(0, 3).map((each) => `${Charts.number(each.y)} (${each.label}, step ${each.step})`);
    const more = found.length > 3 ? ` and ${found.length - 3} more` : "";
    state.outside.textContent = found.length ?
        `Out of range: ${shown.join(", ")}${more}.` : "";
  }

  // The arrow keys move along the points, and Escape ends a zoom.
  function listen(state) {
    const canvas = state.plot.root.querySelector("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${state.chart.title}; arrow keys show values`);
    canvas.tabIndex = 0;
    canvas.addEventListener("keydown", (event) => {
      const plot = state.plot, xs = plot.data[0], last = xs.length - 1;
      const at = plot.cursor.idx === null || plot.cursor.idx === undefined ? -1 : plot.cursor.idx;
      const to = {ArrowLeft: Math.max(0, at - 1), ArrowRight: Math.min(last, at + 1), Home: 0,
                  End: last}[event.key];
      if (event.key === "Escape") plot.setScale("x", {min: xs[0], max: xs[last]});
      if (to === undefined) return;
      event.preventDefault();
      plot.setCursor({left: plot.valToPos(xs[to], "x"), top: 1});
      state.spoken.textContent = [...state.place.querySelectorAll(".u-series:not(.unlisted)")].map(
          (each) => [...each.children].map((part) => part.textContent).join(": ")).join("; ");
    });
  }

  // uPlot's legend switches a series by a click; here by the keyboard, too.
  function openLegend(state) {
    state.place.querySelector(".u-legend").setAttribute("role", "presentation");
    state.place.querySelectorAll(".u-series th").forEach((label, index) => {
      if (!index) return;
      label.tabIndex = 0;
      label.setAttribute("role", "button");
      label.setAttribute("aria-pressed", "true");
      label.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        label.click();
      });
      label.addEventListener("click", () => {
        const isShown = state.plot.series[index].show, raw = state.table.series[index - 1].raw;
        label.setAttribute("aria-pressed", isShown);
        if (raw) state.plot.setSeries(raw, {show: isShown});
      });
    });
  }

  Charts.hooks.push((state) => {
    if (!state.outside) addTools(state);
    showOutside(state);
    listen(state);
    openLegend(state);
  });

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((each) => { each.open = true; });
    Charts.setPaper(true);
  });
  addEventListener("afterprint", () => {
    opened.forEach((each) => { each.open = false; });
    Charts.setPaper(false);
  });

  Charts.start();
})();
