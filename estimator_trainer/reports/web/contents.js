// Puts links to the sections below the head of a page that has several.
(function () {
  "use strict";
  const LEAST = 3;
  const nav = document.createElement("nav");
  nav.setAttribute("aria-label", "sections");
  nav.dataset.made = "";

  function prepare() {
    const main = document.querySelector("main");
    const titles = [...main.querySelectorAll(":scope > section > h2")];
    titles.forEach((title, i) => { title.parentElement.id = `section-${i}`; });
    if (titles.length < LEAST) return nav.remove();
    const links = titles.map((title, i) => {
      const link = document.createElement("a");
      link.href = `#section-${i}`;
      link.textContent = title.textContent;
      return link;
    });
    nav.replaceChildren(...links);
    const first = titles[0].parentElement;
    if (nav.nextElementSibling !== first) first.before(nav);
  }

  document.addEventListener("page:updated", prepare);
  prepare();
})();
