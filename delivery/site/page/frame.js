// A picture that lives in a frame: as high as it has to be. It does not shrink, or all below it would
// jump.

export const frame = document.querySelector("iframe");

function live() {
  const { documentElement: page, body } = frame.contentDocument;
  const grow = () => {
    if (page.scrollHeight > frame.clientHeight) frame.style.height = `${page.scrollHeight}px`;
  };
  new ResizeObserver(grow).observe(body);
}

/** @param {() => void} act now, if it has loaded, and each time that it loads */
export function whenLoaded(act) {
  frame.addEventListener("load", act);
  if (frame.contentDocument.readyState === "complete") act();
}

whenLoaded(live);
