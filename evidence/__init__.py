"""What real tf.data, PyTorch, storages and GPUs did: the programs that measured it, and their data.

`python -m evidence` lists the kinds of evidence; `python -m evidence KIND` measures one of them anew.
`README.md` says of each file how it was measured, and which tests hold `lessonkit` against it.
"""
