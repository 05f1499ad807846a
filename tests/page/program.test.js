import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { keepSaved } from "../../lessonkit/widgets/page/lesson/saved.js";
import loader from "../../lessonkit/widgets/page/loader.js";
import { placeOf } from "../../lessonkit/widgets/page/place.js";
import { Clock, Model, openPage } from "./support/page.js";

let version = 0;
let clock;
let page;

beforeEach(() => {
  page = openPage();
  version += 1;
  clock = new Clock();
});

const soon = () => new Promise((resolve) => setImmediate(resolve));

// A program that says what it drew.
function programOf() {
  const drawn = [];
  const render = ({ model }) => {
    drawn.push(model.get("name"));
    return () => drawn.push("ended");
  };
  return { drawn, render };
}

function widget(name, manager) {
  const model = new Model({ name, version, host: "IPY_MODEL_of the host" });
  return Object.assign(model, { widget_manager: manager });
}

const draw = (model) => loader.render({ model, el: page.document.createElement("div") });

test("a page that has the program draws at once, and gives what ends the view", async () => {
  const program = programOf();
  placeOf(String(version)).take(program);
  const end = await draw(widget("first"));
  end();
  assert.deepEqual(program.drawn, ["first", "ended"]);
});

test("a view that comes before the host waits for it", async () => {
  const program = programOf();
  const model = widget("first", { get_model: async () => ({}) });
  const drawn = draw(model);
  await soon();
  assert.deepEqual(program.drawn, []);
  placeOf(String(version)).take(program);
  await drawn;
  assert.deepEqual(program.drawn, ["first"]);
  assert.deepEqual(model.asked, []); // the kernel, which may be busy
});

test("the page is asked for the host by its number", () => {
  const asked = [];
  const manager = {
    get_model: async (name) => {
      asked.push(name);
    },
  };
  draw(widget("first", manager));
  assert.deepEqual(asked, ["of the host"]);
});

test("where the page knows no host, the kernel is asked, and each version is a program", async () => {
  const text = 'export const program = { render: ({ model }) => model.set("drawn", "by bytes") };';
  globalThis.URL.createObjectURL = () => `data:text/javascript,${encodeURIComponent(text)}`;
  globalThis.URL.revokeObjectURL = () => {};
  const lost = async () => {
    throw new Error("no such model");
  };
  for (const manager of [undefined, { get_model: lost }]) {
    version += 1;
    const model = widget("first", manager);
    const drawn = draw(model);
    await soon();
    assert.deepEqual(model.asked, [{ do: "program" }]);
    model.say({ about: "program" }, text);
    await drawn;
    assert.equal(model.get("drawn"), "by bytes");
    assert.equal(model.heard.get("msg:custom").size, 0); // nothing is heard any more
  }
});

test("of several widgets without a host, one asks", async () => {
  const models = ["first", "second", "third"].map((name) => widget(name));
  for (const model of models) draw(model);
  await soon();
  assert.deepEqual(
    models.map(({ asked }) => asked.length),
    [1, 0, 0],
  );
});

test("a view without a program says what it waits for", () => {
  const el = page.document.createElement("div");
  loader.render({ model: widget("first", { get_model: async () => ({}) }), el });
  assert.equal(el.textContent, "");
  while (clock.goOn());
  assert.equal(el.textContent, "This answers as soon as its cell has run.");
});

test("what was drawn stays, however long it is looked at", async () => {
  const el = page.document.createElement("div");
  const drawn = loader.render({ model: widget("first", { get_model: async () => ({}) }), el });
  const render = () => {
    el.textContent = "a picture";
  };
  placeOf(String(version)).take({ render });
  await drawn;
  while (clock.goOn());
  assert.equal(el.textContent, "a picture");
});

// ---- what JupyterLab saves ----

function model(id, about, isLive = false) {
  return { model_id: id, comm_live: isLive, get: (name) => about[name] };
}

test("without its kernel a lesson is saved with the widgets that it shows, and their host", () => {
  const layout = (of) => model(`layout of ${of}`, {});
  const shown = model("shown", { host: "IPY_MODEL_host", layout: layout("shown") });
  const host = model("host", { layout: layout("host") });
  const gone = model("gone", { host: "IPY_MODEL_old host", layout: layout("gone") });
  const old = model("old host", { layout: layout("old host") });
  const other = model("other", {});
  const all = [shown, host, gone, old, other];
  const manager = {
    context: { model: { toJSON: () => ({ cells: [{ output: "shown" }] }) } },
    _modelsSync: new Map(all.map((one) => [one.model_id, one])),
  };
  Object.setPrototypeOf(manager, {
    get_state_sync() {
      return all.filter((one) => one.comm_live).map((one) => one.model_id);
    },
  });
  keepSaved(manager);
  keepSaved(manager); // a page makes several widgets
  assert.deepEqual(manager.get_state_sync(), ["shown", "host"]);
  assert.ok(all.every((one) => !one.comm_live)); // as they were
});
