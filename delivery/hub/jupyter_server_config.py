"""Each learner's JupyterLab, of a Hub's or in a container: what thirty of them need to share two cores."""

from asyncio import Lock

from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyterlab_server.workspaces_handler import WorkspacesManager

c = get_config()  # noqa: F821 (Jupyter gives it to its configuration)


class OneKernel(AsyncMappingKernelManager):
    """Keeps one kernel for a learner: memory for thirty more, with each lesson that they open, is not there.

    A lesson whose kernel has ended stays as it was drawn, and gets another one when a cell
    is run in it.
    """

    def __init__(self, **options):
        super().__init__(**options)
        self.turns = Lock()  # a learner may open two lessons at the same moment

    async def start_kernel(self, *, kernel_id=None, **options):
        """Start a kernel after those have ended that nothing runs in."""
        async with self.turns:
            if kernel_id not in self:
                await self.end_idle(self.list_kernels())
            return await super().start_kernel(kernel_id=kernel_id, **options)

    async def cull_kernels(self):
        """End also those which were busy when another one started, and are done now."""
        await super().cull_kernels()
        async with self.turns:
            await self.end_idle(self.list_kernels()[:-1])  # the last is the newest

    async def end_idle(self, kernels):
        """End those of *kernels* that nothing runs in."""
        for kernel in kernels:
            if kernel["execution_state"] == "idle":
                await self.shutdown_kernel(kernel["id"])


c.ServerApp.kernel_manager_class = OneKernel


def open_nothing(_, name):
    """Load the workspace *name* as if no lesson had been open in it, where the page's address names one.

    All that were open before would each start a kernel, and the last would end that of the
    one in front.
    """
    return {"data": {}, "metadata": {"id": name}}


WorkspacesManager.load = open_nothing  # JupyterLab has no setting for this

# A kernel listens at files and not at ports: two servers that look for free ports at the
# same time may find the same ones, and then a kernel never answers. start_learner.py keeps
# the names of the files short enough.
c.KernelManager.transport = "ipc"

# No language servers, and no Voilà where it is installed beside the Hub: nobody needs them here,
# and they cost each server time and memory.
c.ServerApp.jpserver_extensions = {"jupyter_lsp": False, "voila.server_extension": False}

# On a Hub; alone
c.ServerApp.default_url = c.LabApp.default_url = "/lab/tree/lessons/00_start_here.ipynb"

# A kernel of a lesson that nobody has open ends after half an hour, and a server that
# nobody has used for two hours ends as well. What was run and saved stays; logging in
# starts the server again.
c.MappingKernelManager.cull_idle_timeout = 1800
c.MappingKernelManager.cull_interval = 30
c.ServerApp.shutdown_no_activity_timeout = 7200
