/* Hover texts of glossary terms and citations, for mouse and keyboard.
   Without this script the links keep their titles, and lead to the same place. */
(() => {
  const links = document.querySelectorAll("a.aid-term[title], a.aid-cite[title]");
  if (!links.length) return;
  const tip = document.createElement("div");
  tip.id = "aid-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let shown = null;
  let leaving = 0;

  const hide = () => {
    clearTimeout(leaving);
    if (!shown) return;
    shown.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };
  const show = (link) => {
    hide();
    shown = link;
    tip.textContent = link.dataset.tip;
    tip.hidden = false;
    link.setAttribute("aria-describedby", tip.id);
    const line = link.getClientRects()[0]; // a link may be broken over two lines
    const box = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(line.left, document.documentElement.clientWidth - box.width - 8));
    const above = line.top - box.height - 6;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above > 60 ? above : link.getBoundingClientRect().bottom + 6) + scrollY}px`; // 60: the header
  };
  const leave = () => { leaving = setTimeout(hide, 150); }; // time to move onto the text itself

  links.forEach((link) => {
    link.dataset.tip = link.title;
    link.removeAttribute("title");
    link.addEventListener("mouseenter", () => show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("mouseleave", leave);
    link.addEventListener("blur", hide);
  });
  tip.addEventListener("mouseenter", () => clearTimeout(leaving));
  tip.addEventListener("mouseleave", leave);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
