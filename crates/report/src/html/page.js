"use strict";
(() => {
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  const get = (id) => document.getElementById(id);
  const bar = get("bar");
  const panels = all("#causes > .panel");
  const texts = new Map();
  const textOf = (panel) => {
    if (!texts.has(panel)) texts.set(panel, panel.textContent.toLowerCase());
    return texts.get(panel);
  };
  const filter = () => {
    const [defect, owner] = ["defect", "owner"].map((id) => (get(id) ? get(id).value : ""));
    const words = get("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    panels.forEach((panel) => {
      const fits = (!defect || panel.dataset.defect === defect) && (!owner || panel.dataset.owner.split("\n").includes(owner));
      panel.hidden = !fits || !words.every((word) => textOf(panel).includes(word));
      if (!panel.hidden) shown += 1;
    });
    get("shown").textContent = shown < panels.length ? shown + " of " + panels.length : "";
  };
  if (bar) {
    bar.hidden = false;
    bar.addEventListener("input", filter);
    bar.addEventListener("submit", (event) => event.preventDefault());
    get("open").addEventListener("click", () => {
      const visible = panels.filter((one) => !one.hidden);
      const open = visible.some((one) => !one.open);
      visible.forEach((one) => { one.open = open; });
      get("open").textContent = open ? "Close all" : "Open all";
    });
  }
  const go = () => {
    const target = get(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", go);
  go();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details").filter((one) => !one.open);
    closed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((one) => { one.open = false; }); });
})();
