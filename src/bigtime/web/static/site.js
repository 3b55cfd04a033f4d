// What pages do with JavaScript beside htmx; without it they show UTC and the header of their time.

// Times: in the reader's own zone and words, with UTC in the tooltip.
const UNITS = [["minute", 60], ["hour", 3600], ["day", 86400]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const local = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const localDay = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const dayOfThisYear = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });

function inWords(moment, old) {
  const seconds = (moment - Date.now()) / 1000;
  if (Math.abs(seconds) < 60) return "just now";
  const [unit, size] = UNITS.findLast(([, size]) => Math.abs(seconds) >= size);
  const count = Math.trunc(seconds / size);
  return unit === "day" && Math.abs(count) > 6 ? old.format(moment) : relative.format(count, unit);
}

function showLocalTimes(part) {
  for (const time of part.querySelectorAll('time[datetime*="T"]:not([title])')) {
    time.title = time.textContent;
    const moment = new Date(time.dateTime);
    const isThisYear = moment.getFullYear() === new Date().getFullYear();
    const old = time.closest(".card, #found-deals") ? (isThisYear ? dayOfThisYear : localDay) : local;
    time.textContent = inWords(moment, old);
  }
}

showLocalTimes(document);
new MutationObserver(() => showLocalTimes(document)).observe(document.body, { childList: true, subtree: true });

// A page that comes back from the browser's memory or its cache has an old header: the cart may have
// changed since.
addEventListener("pageshow", async (event) => {
  const [navigation] = performance.getEntriesByType("navigation");
  if (!event.persisted && navigation?.type !== "back_forward") return;
  const response = await fetch(location.href, { cache: "no-store" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const header = page.getElementById("header");
  if (header) document.getElementById("header").replaceWith(header);
});

// A page that is made to be printed has a button for it.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
