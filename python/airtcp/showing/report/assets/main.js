// The page comes to life.

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function drawWhenNear() {
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      const figure = figures.find((each) => each.element === target);
      figure.isNear = true;
      draw(figure);
    }
  }, { rootMargin: "600px" });
  figures.forEach((figure) => observer.observe(figure.element));
}

function redrawOnResize() {
  let [width, timer] = [window.innerWidth, 0];
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => drawAll(), 120);
  });
}

function printInFull() {
  let before = "";
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    figures.forEach((figure) => { figure.isNear = true; });
    setTheme(false);
  });
  window.addEventListener("afterprint", () => setTheme(before === "dark"));
}

document.querySelectorAll("section[data-schemes]").forEach(schemeButtons);
figures.forEach((figure) => {
  partButtons(figure);
  zoomButtons(figure);
  const details = figure.element.querySelector("details.data");
  details.addEventListener("toggle", () => showData(figure, details));
});
document.querySelectorAll("details.source").forEach(sourceButtons);
setTheme(prefersDark.matches);
themeButton();
redrawOnResize();
printInFull();
if (figures.length) {
  try {
    const library = document.createElement("script");
    library.textContent = await unpack(document.getElementById("plotly").textContent);
    document.head.append(library);
    drawWhenNear();
  } catch (error) {
    const trouble = document.getElementById("trouble");
    trouble.hidden = false;
    trouble.textContent = `The figures cannot be drawn in this browser (${error}); a newer one can. Tables and text are complete.`;
  }
}
root.dataset.ready = "";
