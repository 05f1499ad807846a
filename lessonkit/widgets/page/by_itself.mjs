// A picture as a module: whatever can show an anywidget can show it, without a kernel.
$SCRIPT

const CONTENT = "$CONTENT";

export default {
  render({ el }) {
    let isOver = false, end = () => (isOver = true);
    opened(CONTENT).then((content) => {
      if (!isOver) end = drawIn(el, content, "b");
    });
    return () => end();
  },
};
