"""Each learner's JupyterLab, of a Hub's or in a container: what thirty of them need to share two cores."""

c = get_config()  # noqa: F821 (Jupyter gives it to its configuration)

# A kernel listens at files and not at ports: two servers that look for free ports at the same time may find
# the same ones, and then a kernel never answers. start_learner.py keeps the names of the files short enough.
c.KernelManager.transport = "ipc"

# No language servers: nobody needs them here, and the search for them costs each server time and memory.
c.ServerApp.jpserver_extensions = {"jupyter_lsp": False}

c.ServerApp.default_url = c.LabApp.default_url = "/lab/tree/lessons/00_start_here.ipynb"  # on a Hub; alone

# A kernel of a lesson that nobody has open ends after half an hour, and a server that nobody has used for two
# hours ends as well. What was run and saved stays; logging in starts the server again.
c.MappingKernelManager.cull_idle_timeout = 1800
c.ServerApp.shutdown_no_activity_timeout = 7200
