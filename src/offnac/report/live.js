"use strict";
// A page that a server shows of running work: it looks every few seconds whether there is something new.
(() => {
  const shown = document.currentScript.dataset.state;
  const look = async () => {
    try {
      const answer = await fetch("/state", { cache: "no-store" });
      if (answer.ok && (await answer.text()) !== shown) location.reload();
    } catch { /* the server has gone; what is shown stays */ }
  };
  setInterval(look, 3000);
})();
