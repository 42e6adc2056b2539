"use strict";
(() => {
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  all(".filter").forEach((part) => { part.hidden = false; });
  const rows = all("#all tbody tr");
  const input = document.getElementById("filter");
  if (input) input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    });
    document.getElementById("shown").textContent = words.length ? shown + " of " + rows.length : "";
  });
  const details = all("details");
  const button = document.getElementById("open");
  if (button) button.addEventListener("click", () => {
    const cases = details.filter((one) => one.className === "case");
    const open = cases.some((one) => !one.open);
    cases.forEach((one) => { one.open = open; });
    button.textContent = open ? "Close all" : "Open all";
  });
  const go = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", go);
  go();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = details.filter((one) => !one.open);
    closed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((one) => { one.open = false; }); });
})();
