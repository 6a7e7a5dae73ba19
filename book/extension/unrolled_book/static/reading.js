/* For the reader: sections ticked as read, arrow keys that do not turn pages while they move something else, and a
   printed page with nothing folded. The ticks stay in this browser; where it keeps nothing they last as long as the page. */
(() => {
  "use strict";
  const KEY = "unrolled-read";
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;
  const nameOf = (address) => address.split(/[?#]/)[0].slice(root.length).replace(/\.html$/, "");
  const here = nameOf(location.href);
  const buttons = [...document.querySelectorAll("button.tick")];

  let kept = {}; // page -> { ids: the sections that are read, of: how many there are }
  function load() {
    try { kept = JSON.parse(localStorage.getItem(KEY)) || {}; } catch { /* storage is blocked or damaged: start empty */ }
  }
  function save() {
    try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* then it lasts as long as the page */ }
  }

  function show() {
    const read = new Set(kept[here]?.ids);
    for (const button of buttons) button.setAttribute("aria-pressed", read.has(button.dataset.tick));
    for (const link of document.querySelectorAll("#pst-page-toc-nav a[href^='#']")) {
      link.classList.toggle("is-read", read.has(decodeURIComponent(link.hash.slice(1))));
    }
    for (const link of document.querySelectorAll(".bd-docs-nav a.reference.internal")) {
      const { ids = [], of = 0 } = kept[nameOf(link.href)] || {};
      link.classList.toggle("is-read", of > 0 && ids.length >= of);
      if (ids.length && ids.length < of) link.dataset.read = `${ids.length}/${of}`;
      else delete link.dataset.read;
    }
  }

  function toggle(event) {
    load(); // another tab may have ticked something
    const id = event.currentTarget.dataset.tick, there = buttons.map((button) => button.dataset.tick);
    const read = new Set(kept[here]?.ids);
    if (!read.delete(id)) read.add(id);
    kept[here] = { ids: there.filter((known) => read.has(known)), of: there.length };
    save();
    show();
  }

  for (const button of buttons) button.addEventListener("click", toggle);
  window.addEventListener("storage", (event) => { if (event.key === KEY) { load(); show(); } });
  load();
  show();

  // Sphinx turns pages with the arrow keys. It must not while they scroll a box or move a slider of a model.
  document.querySelector("main")?.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow") && event.target.closest("[tabindex='0'], .touch")) event.stopPropagation();
  });

  // From disk a page may not read other pages: the search shows their titles, and does not try.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  // On paper nothing can be unfolded.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")];
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => { for (const details of opened) details.open = false; });
})();
