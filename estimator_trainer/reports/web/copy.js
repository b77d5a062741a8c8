// Copies a command, or selects it where the browser gives a page no clipboard.
(function () {
  "use strict";
  const SHOWN_MS = 2500;

  async function copied(source) {
    try {
      await navigator.clipboard.writeText(source.textContent);
      return "Copied";
    } catch (error) {
      getSelection().selectAllChildren(source);
      return document.execCommand("copy") ? "Copied" : "Selected: press Ctrl-C";
    }
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copies]");
    if (!button) return;
    button.textContent = await copied(button.parentElement.querySelector("pre"));
    setTimeout(() => { button.textContent = "Copy"; }, SHOWN_MS);
  });
})();
