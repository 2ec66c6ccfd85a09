"use strict";
// Tables sort by the header that is clicked; films stop and go.
document.querySelectorAll("table.sortable").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      // Numbers begin with the largest, names with the first.
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const key = (row) => row.cells[column];
      const compare = (a, b) => {
        const [left, right] = [key(a), key(b)];
        if (!head.classList.contains("number"))
          return sign * left.textContent.localeCompare(right.textContent, "en");
        // What has no number comes last either way.
        if (!("sort" in left.dataset) || !("sort" in right.dataset))
          return ("sort" in right.dataset) - ("sort" in left.dataset);
        return sign * (left.dataset.sort - right.dataset.sort);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare));
    });
  });
});

document.querySelectorAll("figure.film").forEach((film) => {
  const button = film.querySelector("button");
  const tell = (playing) => {
    film.dataset.playing = playing;
    button.textContent = playing ? "Pause" : "Play";
  };
  button.hidden = false;
  button.addEventListener("click", () => tell(film.dataset.playing !== "true"));
  tell(!matchMedia("(prefers-reduced-motion: reduce)").matches);
});
