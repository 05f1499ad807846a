// JupyterLab saves the state of a widget only while its kernel is there. A lesson that was opened
// again has none, and the next save, which comes by itself, would leave error messages in place of
// its pictures.

import { hostOf } from "../place.js";

export function keepSaved(manager) {
  const collect = manager?.get_state_sync; // only JupyterLab's has it
  if (!collect || Object.hasOwn(manager, "get_state_sync")) return;
  manager.get_state_sync = (options) => {
    const cells = JSON.stringify(manager.context.model.toJSON().cells);
    const all = [...manager._modelsSync.values()];
    const shown = all.filter((one) => one.get("host") && cells.includes(one.model_id));
    const hosts = new Set(shown.map(hostOf));
    const wanted = [...shown, ...all.filter((one) => hosts.has(one.model_id))];
    const gone = wanted.flatMap((one) => [one, one.get("layout")]).filter((one) => !one.comm_live);
    for (const one of gone) one.comm_live = true;
    const state = collect.call(manager, options);
    for (const one of gone) one.comm_live = false;
    return state;
  };
}
