// Talk with the kernel, and what it keeps for the page.

/**
 * The answer that came as bytes with a message.
 * @param {BufferSource[]} [buffers]
 */
export function unpack(buffers) {
  return buffers?.length ? JSON.parse(new TextDecoder().decode(buffers[0])) : {};
}

// After a restart the kernel does not answer any more, and nothing tells us so.
export const PATIENCE = 5000; // ms; a kernel may be busy with another cell

export const SILENT =
  "The kernel has not answered yet. Is it busy? " +
  "If it was restarted or shut down, run this cell again.";

// To a kernel that was shut down nothing can be sent. It will not answer either, and that is said
// in time.
export function send(model, question) {
  try {
    model.send(question);
  } catch (error) {
    console.warn(error);
  }
}

// Gives a function that asks the kernel; *say* tells what went wrong, and an answer goes to one of
// *answers*, by what it is about. Another view asked for what none of them speaks of.
export function asking(model, say, answers) {
  const patience = model.timer();
  let asks = false;
  model.on("msg:custom", (message, buffers) => {
    const { about, text } = message;
    if (about !== "error" && !answers[about]) return;
    patience.stop();
    if (about === "error" && asks) say(text);
    asks = false;
    answers[about]?.({ ...message, ...unpack(buffers) });
  });
  return (question) => {
    say("…"); // it may be busy
    asks = true;
    patience.start(() => say(SILENT), PATIENCE);
    send(model, question);
  };
}

// How far a learner is outlives the page, which may be loaded again or open twice: the widget's
// model has it. Gives the function that keeps it; *restore* gets what was kept, also by another
// page.
export function keeping(model, restore) {
  let ours = "";
  const look = () => {
    const kept = model.get("kept");
    if (kept && kept !== ours) restore(JSON.parse(kept));
  };
  model.on("change:kept", look);
  look();
  return (value) => {
    ours = JSON.stringify(value);
    model.set("kept", ours);
    model.save_changes();
    // Or JupyterLab would save it only with the next run of a cell.
    model.widget_manager?.setDirty?.();
  };
}
