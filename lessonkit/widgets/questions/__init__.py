"""Questions before a run. A new type of question is a class in a file of its own here.

- `predict.py`: what a lesson calls; it chooses the type by the arguments, and runs the pipelines.
- `prediction.py`: `Question`, what all types have in common, and the plain type: a number or a choice.
- `marks.py`: `Marks`, what `placing.py` (bars on a time axis) and `drawing.py` (a curve) have in common.

A type goes on from `Question`, or from `Marks` if the answer is a place for each of several
marks. It says what the page has to know before (`spec`), judges an answer (`judge`) and
gives the run (`revealed`). The page draws it in `widgets/page/tasks.js` or in a file beside
it.
"""
