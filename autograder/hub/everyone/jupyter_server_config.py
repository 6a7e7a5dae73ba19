"""JupyterLab for everyone on the hub."""

c = get_config()  # noqa: F821
# A kernel that listens on TCP shows its outputs to every user of the machine. Sockets in the home folder do not.
c.KernelManager.transport = "ipc"
