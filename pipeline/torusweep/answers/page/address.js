// What a reader chose stands in the page's address after the #, so that a link shows the same again:
// at=SECTION for where the reader is, the explorer's choices, or a section's name alone, as in #loads.
let place = ""; // the section last gone to

function readAddress() {
  const text = location.hash.slice(1);
  if (text.includes("=")) return new URLSearchParams(text);
  return new URLSearchParams(text ? { at: text } : {});
}

let writing = 0;

// browsers take only so many changes of the address in a while, so a slider's are gathered
function writeAddress() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const chosen = new URLSearchParams(place ? { at: place } : {});
    explorer?.describe(chosen);
    const text = chosen.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }, 150);
}

// scrolls to an element by its id, and unfolds what it is in
function goTo(id) {
  const target = document.getElementById(id);
  if (!target) return;
  place = id;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  const folded = target.querySelector(":scope > details.fold");
  if (folded) folded.open = true;
  target.scrollIntoView();
}

function startAddress() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault(); // the browser would put the section's name in place of the choices
    goTo(link.getAttribute("href").slice(1));
    writeAddress();
  });
  window.addEventListener("hashchange", () => { restore(); });
}

function restore() {
  const chosen = readAddress();
  explorer?.restore(chosen);
  if (chosen.get("at")) goTo(chosen.get("at"));
}
