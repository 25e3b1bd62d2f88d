// WCAG 2 contrast of each element that holds text of its own.
const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (e) => { const chain = []; for (; e; e = e.parentElement) chain.push(parse(getComputedStyle(e).backgroundColor));
  return chain.reverse().reduce((below, c) => over(c, below), [255, 255, 255]); };
return [...document.querySelectorAll("h1,h2,h3,p,th,td,li,dt,dd,a,button,label,figcaption,summary,.badge,strong")]
  .filter((e) => e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .map((e) => { const below = ground(e), ink = over(parse(getComputedStyle(e).color), below);
    const [a, b] = [light(below), light(ink)].sort((x, y) => y - x);
    return [e.tagName + " " + e.className + " " + e.textContent.slice(0, 30), (a + 0.05) / (b + 0.05)]; });
