import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { allRecords, folderHere, Record } from "../../lessonkit/widgets/page/lesson/record.js";
import { Model, openPage } from "./support/page.js";

let page;

beforeEach(() => {
  page = openPage({ path: "/user/ann/lab/tree/01_prefetch.ipynb" });
});

const recordOf = (kind, question, path) => {
  const model = Object.assign(new Model(), { widget_manager: { context: { path } } });
  return new Record(model, kind, question);
};

test("what was written is read again, with the lesson, the kind and the question", () => {
  recordOf("number", "How long?", "01_prefetch.ipynb").write({ said: 210 });
  const { when, ...rest } = recordOf("number", "How long?", "01_prefetch.ipynb").read();
  assert.deepEqual(rest, {
    schema: 1,
    lesson: "01_prefetch",
    kind: "number",
    question: "How long?",
    said: 210,
  });
  assert.match(when, /^\d{4}-\d\d-\d\dT/);
});

test("another kind, question or notebook has a record of its own", () => {
  recordOf("number", "How long?", "a.ipynb").write({ said: 1 });
  assert.equal(recordOf("choice", "How long?", "a.ipynb").read(), null);
  assert.equal(recordOf("number", "How far?", "a.ipynb").read(), null);
  assert.equal(recordOf("number", "How long?", "b.ipynb").read(), null);
});

test("the page is told of each record that is written", () => {
  recordOf("number", "How long?", "a.ipynb").write({ said: 1 });
  const [{ type, detail }] = page.told;
  assert.equal(type, "lessonkit-record");
  assert.equal(detail.record.said, 1);
});

test("a record of another schema, and what is none, is not read", () => {
  const record = recordOf("number", "How long?", "a.ipynb");
  for (const text of ['{"schema": 2}', "{", "null", "3"]) {
    page.localStorage.setItem(record.key, text);
    assert.equal(record.read(), null, text);
  }
});

test("a damaged record is not read, and empties neither the report nor what a class hears", () => {
  const good = recordOf("number", "How long?", "a.ipynb");
  good.write({ said: 1, tries: [{ said: 1, sure: "certain", when: "1" }] });
  const bad = recordOf("number", "How far?", "a.ipynb");
  for (const tries of [null, 5, {}, [null], [5], [{ said: 1 }], [{ when: "1" }]]) {
    bad.write({ said: 1, tries });
    assert.equal(bad.read(), null, JSON.stringify(tries));
    const found = allRecords("/user/ann").map(({ question }) => question);
    assert.deepEqual(found, ["How long?"]);
  }
});

test("a page that keeps nothing goes on", () => {
  const refuse = () => {
    throw new Error("no storage");
  };
  Object.assign(page.localStorage, { getItem: refuse, setItem: refuse, removeItem: refuse });
  const record = recordOf("number", "How long?", "a.ipynb");
  record.write({ said: 1 });
  record.forget();
  assert.equal(record.read(), null);
  assert.equal(page.told.length, 1);
});

test("what is forgotten is not there", () => {
  const record = recordOf("number", "How long?", "a.ipynb");
  record.write({ said: 1 });
  record.forget();
  assert.equal(record.read(), null);
});

test("records belong to the folder of a server, and come in the order in which they were begun", () => {
  assert.equal(folderHere(), "/user/ann");
  const key = (folder, name) => `lessonkit record ${folder}//${name}`;
  const store = (where, record) => {
    page.localStorage.setItem(where, JSON.stringify({ schema: 1, ...record }));
  };
  store(key("/user/ann", "b"), { lesson: "01", when: "3", tries: [{ said: 5, when: "2" }], n: 2 });
  store(key("/user/ann", "a"), { lesson: "01", when: "4", tries: [{ said: 5, when: "1" }], n: 1 });
  store(key("/user/ann", "c"), { lesson: "00", when: "9", n: 0 });
  store(key("/user/ann/deep", "d"), { lesson: "00", when: "0", n: 7 });
  store(key("/user", "e"), { lesson: "00", when: "0", n: 8 });
  store("another", { lesson: "00", when: "0", n: 9 });
  assert.deepEqual(
    allRecords("/user/ann").map(({ n }) => n),
    [0, 1, 2],
  );
});
