// Keeps the page of a running job up to date without a reload, from the answers of
// `report --serve`. Open parts, focus, scrolling and drawn charts stay as they are. This script is
// the first, because it remembers the parts as they came; others mark what they add with data-made.
(function () {
  "use strict";
  const NAMED = "section, details, article, fieldset, figure, tr";
  const UNSAFE = "script, iframe, object, embed, link, meta, base, form, style, template";
  const DRAWN = "[data-chart], [data-curve]";
  const main = document.querySelector("main"), settings = document.body.dataset;
  const isServed = settings.version !== undefined;
  // Key and markup of each part as it came.
  const keys = new WeakMap(), markups = new WeakMap();
  // The server's clock may be another machine's.
  let ahead = isServed ? Number(settings.now) - Date.now() / 1000 : 0;
  let version = settings.version, isAsking = false;

  function remember(root) {
    for (const each of [root, ...root.querySelectorAll(NAMED)]) {
      if (!each.matches(NAMED)) continue;
      keys.set(each, keyOf(each));
      markups.set(each, stable(each));
    }
  }

  function keyOf(each) {
    if (keys.has(each)) return keys.get(each);
    const named = !each.matches(NAMED) || each.id ? null : each.matches("tr") ? each.cells[0] :
        each.querySelector("h2, h3, summary, legend, figcaption");
    return `${each.tagName} ${each.id || (named ? named.textContent : "")}`;
  }

  // The numbers of charts change when there is a new one.
  function stable(each) {
    return each.outerHTML.replace(/ data-chart="\d+"/g, "");
  }

  // [key, element] of the children that the server made; equal keys are numbered.
  function keyed(root) {
    const seen = new Map();
    return [...root.children].filter((each) => each.dataset.made === undefined).map((each) => {
      const key = keyOf(each), count = seen.get(key) || 0;
      seen.set(key, count + 1);
      return [`${key} ${count}`, each];
    });
  }

  // Makes the children of `old` those of `fresh`; those that are in both stay the same elements.
  function adopt(old, fresh) {
    const before = new Map(keyed(old)), now = new Map(keyed(fresh));
    const keyAt = new Map([...now].map(([key, each]) => [each, key]));
    for (const [key, each] of before) if (!now.has(key)) each.remove();
    for (const each of [...old.childNodes]) if (each.nodeType !== Node.ELEMENT_NODE) each.remove();
    let at = old.firstChild;
    for (const each of [...fresh.childNodes]) {
      while (at && at.dataset.made !== undefined) at = at.nextSibling;
      const kept = before.get(keyAt.get(each));
      if (!kept) {
        old.insertBefore(document.adoptNode(each), at);
        if (each.nodeType === Node.ELEMENT_NODE) remember(each);
      } else {
        if (kept === at) at = at.nextSibling;
        else old.insertBefore(kept, at);
        update(kept, each);
      }
    }
  }

  function update(kept, fresh) {
    if (markups.get(kept) === stable(fresh) || isChart(kept)) {
      // charts.js draws new data into the charts that are there.
      const places = fresh.querySelectorAll("[data-chart]");
      kept.querySelectorAll("[data-chart]").forEach((each, i) => {
        each.dataset.chart = places[i].dataset.chart;
      });
      return;
    }
    if (keys.has(kept)) markups.set(kept, stable(fresh));
    setAttributes(kept, fresh);
    if (kept.matches(DRAWN)) return;
    if (kept.children.length || fresh.children.length) adopt(kept, fresh);
    else if (kept.textContent !== fresh.textContent) kept.textContent = fresh.textContent;
  }

  function isChart(each) {
    return each.matches("figure") && each.querySelector("[data-chart]") !== null;
  }

  function setAttributes(kept, fresh) {
    const isOfUser = kept.matches("details, input, select, textarea");
    for (const {name} of [...kept.attributes]) {
      if (!isOfUser && !fresh.hasAttribute(name)) kept.removeAttribute(name);
    }
    for (const {name, value} of fresh.attributes) {
      if (!isOfUser && kept.getAttribute(name) !== value) kept.setAttribute(name, value);
    }
  }

  // Returns markup as nodes of a document in which nothing runs, without what could run here.
  function parsed(markup) {
    const root = new DOMParser().parseFromString(markup, "text/html").body;
    root.querySelectorAll(UNSAFE).forEach((each) => each.remove());
    for (const each of root.querySelectorAll("*")) {
      for (const {name, value} of [...each.attributes]) {
        if (/^on/.test(name) || /^\s*(javascript|vbscript|data:text)/i.test(value)) {
          each.removeAttribute(name);
        }
      }
    }
    return root;
  }

  function show(data) {
    version = data.version;
    ahead = data.now - Date.now() / 1000;
    document.title = data.title;
    adopt(main, parsed(data.body));
    if (window.Charts) window.Charts.update(data.charts);
    tick();
    document.dispatchEvent(new CustomEvent("page:updated"));
  }

  async function answer(path) {
    // The address of a comparison names its runs.
    const found = await fetch(path + location.search, {cache: "no-store"});
    if (!found.ok) throw new Error(`the server answered ${found.status} ${found.statusText}`);
    return found;
  }

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    try {
      const newest = await (await answer("version")).text();
      if (newest !== version) show(await (await answer("data")).json());
      say("");
    } catch (error) {
      // A browser gives no answer as a TypeError.
      const why = error instanceof TypeError ? "the server has ended" : error.message;
      say(`No newer data: ${why}. The page shows those of ${clock(Date.now() / 1000 + ahead)}.`);
    }
    isAsking = false;
  }

  let shownSentence = "";
  // A sentence at the top, which names when the data were last known to be new.
  function say(sentence) {
    if (Boolean(sentence) === Boolean(shownSentence)) return;
    shownSentence = sentence;
    const place = document.querySelector(".notice");
    place.hidden = !sentence;
    place.textContent = sentence;
  }

  function clock(at) {
    return new Date(1000 * at).toLocaleTimeString();
  }

  function duration(secs) {
    const s = Math.max(0, Math.round(secs)), minutes = Math.floor(s / 60);
    if (s < 60) return `${s} s`;
    return minutes < 60 ? `${minutes} min ${s % 60} s` :
        `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  }

  // Ages and the time left go on between two answers.
  function tick() {
    const now = Date.now() / 1000 + ahead;
    document.querySelectorAll("time[data-at]").forEach((each) => {
      const at = Number(each.dataset.at);
      each.textContent = each.dataset.shows === "age" ? `${duration(now - at)} ago` :
          `${duration(at - now)} (${clock(at)})`;
    });
  }

  remember(main);
  tick();
  setInterval(tick, 1000);
  if (isServed) {
    setInterval(ask, 1000 * settings.pollSecs);
    document.addEventListener("visibilitychange", () => document.hidden || ask());
  }
})();
